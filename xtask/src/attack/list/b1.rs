// SPDX-License-Identifier: MIT OR Apache-2.0
//! B1: a stale TLB entry on another CPU.

use super::{Attack, Attempt, Control, Without};

const FAULT: &str = "faulted";

/// What joins a pool is invalidated on all CPUs before it is one. QEMU's TLB of a CPU lasts until
/// an invalidation, so the control needs no luck. The auditor cannot see TLBs.
pub const ATTACK: Attack = Attack {
    id: "B1",
    title: "write a frame of the pool through what another CPU's TLB still has",
    attempts: &[
        Attempt::stopped("linear-map", FAULT),
        Attempt::stopped("other-mapping", FAULT),
    ],
    controls: &[Control {
        without: Without::inner(&["weaken-flush"]),
        attempts: &["linear-map", "other-mapping"],
        seen_as: &[],
    }],
    cpu: None,
};
