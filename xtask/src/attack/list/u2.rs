// SPDX-License-Identifier: MIT OR Apache-2.0
//! U2: where descriptors are read.

use super::{Attack, Attempt, Control, Without};

const WRONG: &str = "refused: frame is not of this kind";

/// Descriptors are read where Linux could read them itself. Nothing is left of it afterwards.
pub const ATTACK: Attack = Attack {
    id: "U2",
    title: "have user tables filled from inner memory, tables, devices or nothing",
    attempts: &[
        Attempt::stopped("inner", WRONG),
        Attempt::stopped("table", WRONG),
        Attempt::stopped("device", WRONG),
        Attempt::stopped("no-memory", WRONG),
    ],
    controls: &[Control {
        without: Without::inner(&["weaken-source"]),
        attempts: &["inner", "table"],
        seen_as: &[],
    }],
    cpu: None,
};
