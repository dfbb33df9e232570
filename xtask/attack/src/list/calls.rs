// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arguments and results of calls.

use super::{Attack, Attempt, Control, Without};

const IN_ONE: &str = "none in part";
const ALL: &str = "buffers are refused";
const ZERO: &str = "14 registers are zero";

/// The rows.
pub const ATTACKS: &[Attack] = &[
    // The auditor looks at all tables afterwards.
    Attack {
        name: "change-list-during-call",
        alias: Some("B2"),
        title: "change a list of table writes from another CPU while it is carried out",
        stopped_by: "Each word of a list is read once.",
        attempts: &[
            Attempt::stopped("value", IN_ONE),
            Attempt::stopped("entry", IN_ONE),
        ],
        controls: &[Control {
            without: Without::inner(&["weaken-list"]),
            attempts: &["value", "entry"],
            seen_as: &["I1", "I3"],
        }],
        ..Attack::ROW
    },
    // Nothing is left that an auditor could see: what a call has read is not kept, and what it has
    // written is the attacker's own.
    Attack {
        name: "name-buffers-at-edges",
        alias: Some("B9"),
        title: "name buffers at every edge of memory, pages and addresses",
        stopped_by: "The address and length of each buffer are checked before anything else.",
        attempts: &[
            Attempt::stopped("read", ALL),
            Attempt::stopped("write", ALL),
        ],
        controls: &[Control {
            without: Without::inner(&["weaken-bounds"]),
            attempts: &["read", "write"],
            seen_as: &[],
        }],
        holds: &["P1"],
        ..Attack::ROW
    },
    Attack {
        name: "read-registers-after-call",
        alias: Some("F19"),
        title: "read what a call leaves in registers",
        stopped_by: "The gate clears them on the way out.",
        attempts: &[
            Attempt::stopped("accepted", ZERO),
            Attempt::stopped("refused", ZERO),
            Attempt::stopped("poke", ZERO),
        ],
        controls: &[Control {
            without: Without::inner(&["weaken-no-clear"]),
            attempts: &["accepted", "refused", "poke"],
            seen_as: &[],
        }],
        holds: &["P1"],
        ..Attack::ROW
    },
];
