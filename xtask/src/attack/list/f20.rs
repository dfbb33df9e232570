// SPDX-License-Identifier: MIT OR Apache-2.0
//! F20: instructions of later architectures.

use super::{Attack, Attempt, Control, Without};

/// The scan has a list of what is allowed.
pub const ATTACK: Attack = Attack {
    id: "F20",
    title: "put registers and instructions that came later into a module or generated code",
    attempts: &[
        Attempt::stopped("module", "refused: each of "),
        Attempt::stopped("generated", "refused: each of "),
    ],
    controls: &[Control {
        without: Without::inner(&["weaken-scan"]),
        attempts: &["module", "generated"],
        seen_as: &["I8"],
    }],
    cpu: None,
};
