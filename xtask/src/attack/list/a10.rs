// SPDX-License-Identifier: MIT OR Apache-2.0
//! A10: jump to a write of VBAR_EL1.

use super::{Attack, Attempt, Control, Without};

/// Executable memory has none but the gate's, and none can be put there.
pub const ATTACK: Attack = Attack {
    id: "A10",
    title: "find a write of VBAR_EL1 in all executable memory and jump there",
    attempts: &[Attempt::stopped("jump", "in executable memory")],
    controls: &[Control {
        without: Without::inner(&["weaken-scan"]),
        attempts: &["jump"],
        seen_as: &["I8"],
    }],
    cpu: None,
};
