// SPDX-License-Identifier: MIT OR Apache-2.0
//! F17: a table with two parents.

use super::{Attack, Attempt, Control, Without};

const REFUSED: &str = "refused: table has a parent or another level";

/// A table has one parent.
pub const ATTACK: Attack = Attack {
    id: "F17",
    title: "link a table a second time",
    attempts: &[Attempt::stopped("kernel", REFUSED)],
    controls: &[Control {
        without: Without::inner(&["weaken-parent"]),
        attempts: &["kernel"],
        seen_as: &["I1"],
    }],
    cpu: None,
};
