// SPDX-License-Identifier: MIT OR Apache-2.0
//! B2: arguments that change between the look at them and their use.

use super::{Attack, Attempt, Control, Without};

const IN_ONE: &str = "none in part";

/// Each word of a list is read once. The auditor looks at all tables afterwards.
pub const ATTACK: Attack = Attack {
    id: "B2",
    title: "change a list of table writes from another CPU while it is carried out",
    attempts: &[
        Attempt::stopped("value", IN_ONE),
        Attempt::stopped("entry", IN_ONE),
    ],
    controls: &[Control {
        without: Without::inner(&["weaken-list"]),
        attempts: &["value", "entry"],
        seen_as: &["I1", "I3"],
    }],
    cpu: None,
};
