// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compartments.

use super::{Attack, Attempt, Control, Without};

const BAD_TARGET: &str = "refused: permissions do not suit the frame";

/// The rows.
pub const ATTACKS: &[Attack] = &[
    Attack {
        name: "read-compartment",
        title: "read the memory of a compartment by every mapping that Linux can ask for",
        stopped_by: "No mapping of the outer view leads to a private frame, and no call reads one for Linux.",
        attempts: &[
            Attempt::stopped("linear", "16 of 16 loads faulted"),
            Attempt::stopped("map", BAD_TARGET),
            Attempt::stopped("user", BAD_TARGET),
            Attempt::stopped("buffer", "refused: the address is not Linux's to name"),
            Attempt::stopped("asid", "refused: ASID is reserved or taken"),
        ],
        controls: &[
            Control {
                without: Without::inner(&["weaken-pool"]),
                attempts: &["linear"],
                seen_as: &["I19"],
            },
            Control {
                without: Without::inner(&["weaken-target"]),
                attempts: &["map", "user"],
                seen_as: &["I19"],
            },
            Control {
                without: Without::inner(&["weaken-bounds"]),
                attempts: &["buffer"],
                seen_as: &[],
            },
            Control {
                without: Without::inner(&["weaken-asid"]),
                attempts: &["asid"],
                seen_as: &[],
            },
        ],
        ..Attack::ROW
    },
    Attack {
        name: "watch-compartment",
        title: "see what a compartment had in registers, and stop it at each step",
        stopped_by: "The registers of FP are the caller's again when a compartment is left, and Linux's breakpoints are off in it.",
        attempts: &[
            Attempt::stopped("registers", "d31 is the caller's"),
            Attempt::stopped("breakpoint", "it ran to its end"),
        ],
        controls: &[
            Control {
                without: Without::inner(&["weaken-scrub"]),
                attempts: &["registers"],
                seen_as: &[],
            },
            Control {
                without: Without::inner(&["weaken-context-debug"]),
                attempts: &["breakpoint"],
                seen_as: &[],
            },
        ],
        ..Attack::ROW
    },
    Attack {
        name: "keep-compartment-memory",
        title: "take the memory of a compartment back and look for what was in it",
        stopped_by: "Frames are wiped when a compartment ends, before they are anything else.",
        attempts: &[Attempt::stopped("leftovers", "all of the block is wiped")],
        controls: &[Control {
            without: Without::inner(&["weaken-wipe"]),
            attempts: &["leftovers"],
            seen_as: &[],
        }],
        ..Attack::ROW
    },
];
