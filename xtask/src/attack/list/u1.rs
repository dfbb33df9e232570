// SPDX-License-Identifier: MIT OR Apache-2.0
//! U1: what a user's page may be.

use super::{Attack, Attempt, Control, Without};

const FRAME: &str = "refused: permissions do not suit the frame";

/// Each descriptor is checked before it stands in a table that walks read.
pub const ATTACK: Attack = Attack {
    id: "U1",
    title: "have inner memory, tables, text or devices mapped for a process",
    attempts: &[
        Attempt::stopped("inner", FRAME),
        Attempt::stopped("table", FRAME),
        Attempt::stopped("root", FRAME),
        Attempt::stopped("zero-page", FRAME),
        Attempt::stopped("text", FRAME),
        Attempt::stopped("device", "refused: neither memory nor an allowed device"),
        Attempt::stopped("executable", "refused: executable at EL1"),
        Attempt::stopped("global", "refused: unknown bits or a block"),
    ],
    controls: &[
        Control {
            without: Without::inner(&["weaken-target"]),
            attempts: &["inner", "table", "root", "zero-page", "text"],
            seen_as: &["I2", "I3", "I4"],
        },
        Control {
            without: Without::inner(&["weaken-execute"]),
            attempts: &["executable"],
            seen_as: &["I5"],
        },
    ],
    cpu: None,
};
