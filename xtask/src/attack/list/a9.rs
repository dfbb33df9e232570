// SPDX-License-Identifier: MIT OR Apache-2.0
//! A9: jump to a write of a root.

use super::{Attack, Attempt, Control, Without};

/// Executable memory has none, and none can be put there.
pub const ATTACK: Attack = Attack {
    id: "A9",
    title: "find a write of TTBR0_EL1 or TTBR1_EL1 in all executable memory and jump there",
    attempts: &[
        Attempt::stopped("user", "in executable memory"),
        Attempt::stopped("kernel", "in executable memory"),
    ],
    controls: &[Control {
        without: Without::inner(&["weaken-scan"]),
        attempts: &["user", "kernel"],
        seen_as: &["I8"],
    }],
    cpu: None,
};
