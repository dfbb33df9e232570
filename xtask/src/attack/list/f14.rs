// SPDX-License-Identifier: MIT OR Apache-2.0
//! F14: DBM.

use super::{Attack, Attempt, Control, Without};

/// DBM counts as writable, although TCR_EL1.HD is 0 and the CPU would not act on it: two
/// protections, of which this is the first. The CPU has to have the feature for the second to be
/// one.
pub const ATTACK: Attack = Attack {
    id: "F14",
    title: "map a table read-only with DBM",
    attempts: &[Attempt::stopped(
        "table",
        "refused: permissions do not suit the frame",
    )],
    controls: &[Control {
        without: Without::inner(&["weaken-dbm"]),
        attempts: &["table"],
        seen_as: &["I2"],
    }],
    cpu: Some("max"),
};
