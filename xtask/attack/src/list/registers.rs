// SPDX-License-Identifier: MIT OR Apache-2.0
//! Registers.

use super::{Attack, Attempt, Control, Without};

/// The rows.
pub const ATTACKS: &[Attack] = &[
    Attack {
        name: "write-tcr-by-new-text",
        alias: Some("D5"),
        title: "write TCR_EL1 by an instruction put into the module's text or into a page that becomes text",
        stopped_by: "The scan of new instructions refuses a write of it.",
        attempts: &[
            Attempt::stopped("poke", "refused: an instruction is not allowed"),
            Attempt::stopped("seal", "refused: each of "),
        ],
        controls: &[Control {
            without: Without::inner(&["weaken-scan"]),
            attempts: &["poke", "seal"],
            seen_as: &["I8"],
        }],
        holds: &["I6"],
        ..Attack::ROW
    },
    Attack {
        name: "write-vbar-by-new-text",
        alias: Some("D7"),
        title: "write VBAR_EL1 by an instruction put into the module's text or into a page that becomes text",
        stopped_by: "The scan of new instructions refuses a write of it.",
        attempts: &[
            Attempt::stopped("poke", "refused: an instruction is not allowed"),
            Attempt::stopped("seal", "refused: each of "),
        ],
        controls: &[Control {
            without: Without::inner(&["weaken-scan"]),
            attempts: &["poke", "seal"],
            seen_as: &["I8"],
        }],
        holds: &["I6"],
        ..Attack::ROW
    },
    Attack {
        name: "jump-to-tcr-write",
        alias: Some("A8"),
        title: "find a write of TCR_EL1 in all executable memory and jump there",
        stopped_by: "Executable memory has no such write but the gate's, and none can be put there.",
        attempts: &[Attempt::stopped("jump", "in executable memory")],
        controls: &[Control {
            without: Without::inner(&["weaken-scan"]),
            attempts: &["jump"],
            seen_as: &["I8"],
        }],
        ..Attack::ROW
    },
    Attack {
        name: "jump-to-ttbr-write",
        alias: Some("A9"),
        title: "find a write of TTBR0_EL1 or TTBR1_EL1 in all executable memory and jump there",
        stopped_by: "Executable memory has none, and none can be put there.",
        attempts: &[
            Attempt::stopped("user", "in executable memory"),
            Attempt::stopped("kernel", "in executable memory"),
        ],
        controls: &[Control {
            without: Without::inner(&["weaken-scan"]),
            attempts: &["user", "kernel"],
            seen_as: &["I8"],
        }],
        ..Attack::ROW
    },
    Attack {
        name: "jump-to-vbar-write",
        alias: Some("A10"),
        title: "find a write of VBAR_EL1 in all executable memory and jump there",
        stopped_by: "Executable memory has none, and none can be put there.",
        attempts: &[Attempt::stopped("jump", "in executable memory")],
        controls: &[Control {
            without: Without::inner(&["weaken-scan"]),
            attempts: &["jump"],
            seen_as: &["I8"],
        }],
        ..Attack::ROW
    },
];
