// SPDX-License-Identifier: MIT OR Apache-2.0
//! The gate.

use super::{Attack, Attempt, Control, Without};

/// The one that is carried out from outside; also the name of its own command.
const FROM_OUTSIDE: &str = "gate";

/// The rows.
pub const ATTACKS: &[Attack] = &[
    // A gate that leaves without narrowing leaves it one; the vectors would notice that, so they
    // do not look either.
    Attack {
        name: "jump-to-exit-write",
        alias: Some("A7"),
        title: "jump to the gate's exit write with a value of one's own",
        stopped_by: "The outer view does not have the page of the exit write.",
        attempts: &[Attempt::stopped(
            "exit-write",
            "the fetch of the exit write faulted",
        )],
        controls: &[Control {
            without: Without {
                inner: &["weaken-no-narrow", "weaken-vectors"],
                linux: Some("vectors"),
                ..Without::NOTHING
            },
            attempts: &["exit-write"],
            // Nothing stays: the thread ends in the outer view.
            seen_as: &[],
        }],
        holds: &["P1"],
        ..Attack::ROW
    },
    Attack {
        name: "map-gate-again",
        alias: Some("F16"),
        title: "map the gate's frame once more, executable or writable",
        stopped_by: "A table write makes nothing executable at EL1, and the gate's frame is mapped nowhere else.",
        attempts: &[
            Attempt::stopped("execute", "refused: executable at EL1"),
            Attempt::stopped("write", "refused: permissions do not suit the frame"),
        ],
        controls: &[
            Control {
                without: Without::inner(&["weaken-target", "weaken-execute"]),
                attempts: &["execute"],
                seen_as: &["I13"],
            },
            Control {
                without: Without::inner(&["weaken-target"]),
                attempts: &["write"],
                seen_as: &["I3"],
            },
        ],
        ..Attack::ROW
    },
    // Three runs, one in each mode. Its controls are the tests `gate-run:*:weaken-*`.
    Attack {
        name: FROM_OUTSIDE,
        title: "start the CPU anywhere in the gate and the vectors, from outside, with hostile registers",
        stopped_by: "The gate and the vectors compare TCR_EL1 with the one right value, and the machine stops at any other.",
        holds: &["P1"],
        ..Attack::ROW
    },
];
