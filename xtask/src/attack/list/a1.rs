// SPDX-License-Identifier: MIT OR Apache-2.0
//! A1: remap an inner page or a table.

use super::{Attack, Attempt, Control, Without};

const REFUSED: &str = "refused: permissions do not suit the frame";

/// The type of a frame decides how it may be mapped.
pub const ATTACK: Attack = Attack {
    id: "A1",
    title: "map inner memory or a table, writable, by a table write",
    attempts: &[
        Attempt::stopped("inner", REFUSED),
        Attempt::stopped("table", REFUSED),
        Attempt::stopped("root", REFUSED),
    ],
    controls: &[Control {
        without: Without::inner(&["weaken-target"]),
        attempts: &["inner", "table", "root"],
        seen_as: &["I2", "I3"],
    }],
    cpu: None,
};
