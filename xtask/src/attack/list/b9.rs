// SPDX-License-Identifier: MIT OR Apache-2.0
//! B9: arguments at every edge.

use super::{Attack, Attempt, Control, Without};

const ALL: &str = "buffers are refused";

/// Nothing is left that an auditor could see: what a call has read is not kept, and what it has
/// written is the attacker's own.
pub const ATTACK: Attack = Attack {
    id: "B9",
    title: "name buffers at every edge of memory, pages and addresses",
    attempts: &[
        Attempt::stopped("read", ALL),
        Attempt::stopped("write", ALL),
    ],
    controls: &[Control {
        without: Without::inner(&["weaken-bounds"]),
        attempts: &["read", "write"],
        seen_as: &[],
    }],
    cpu: None,
};
