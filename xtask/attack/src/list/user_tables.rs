// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables of users.

use super::{Attack, Attempt, Control, Without};

const FRAME: &str = "refused: permissions do not suit the frame";
const WRONG: &str = "refused: frame is not of this kind";
const USER_FAULT: &str = "a store of the process faults";
const ELSEWHERE: &str = "TTBR0_EL1 leads elsewhere";

/// The rows.
pub const ATTACKS: &[Attack] = &[
    Attack {
        name: "map-protected-memory-for-user",
        alias: Some("U1"),
        title: "have inner memory, tables, text or devices mapped for a process",
        stopped_by: "Each descriptor is checked before it stands in a table that walks read.",
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
        holds: &["I9", "I15"],
        ..Attack::ROW
    },
    // Nothing is left of it afterwards.
    Attack {
        name: "fill-from-protected-memory",
        alias: Some("U2"),
        title: "have user tables filled from inner memory, tables, private memory, devices or nothing",
        stopped_by: "Descriptors are read where Linux could read them itself.",
        attempts: &[
            Attempt::stopped("inner", WRONG),
            Attempt::stopped("table", WRONG),
            Attempt::stopped("device", WRONG),
            Attempt::stopped("no-memory", WRONG),
            Attempt::stopped("private", WRONG),
        ],
        controls: &[Control {
            without: Without::inner(&["weaken-source"]),
            attempts: &["inner", "table", "private"],
            seen_as: &[],
        }],
        holds: &["P1"],
        ..Attack::ROW
    },
    Attack {
        name: "change-descriptor-during-call",
        alias: Some("U3"),
        title: "change a descriptor between its check and its use",
        stopped_by: "Each descriptor is read once.",
        attempts: &[Attempt::stopped(
            "source",
            "all that was mapped was checked",
        )],
        controls: &[Control {
            without: Without::inner(&["weaken-once"]),
            attempts: &["source"],
            seen_as: &["I3"],
        }],
        ..Attack::ROW
    },
    Attack {
        name: "keep-user-mapping",
        alias: Some("U4"),
        title: "keep a user mapping of memory that becomes a pool",
        stopped_by: "Mappings of a frame are dropped before it stops being ordinary.",
        attempts: &[
            Attempt::stopped("tables", USER_FAULT),
            Attempt::stopped("text", USER_FAULT),
        ],
        controls: &[Control {
            without: Without::inner(&["weaken-withdraw"]),
            attempts: &["tables", "text"],
            seen_as: &["I2", "I4"],
        }],
        holds: &["I12"],
        ..Attack::ROW
    },
    // No control: there is no check that could be left out.
    Attack {
        name: "load-forged-root",
        alias: Some("D6"),
        title: "load a root that stands in ordinary memory and maps inner memory, the kernel's, or a compartment's",
        stopped_by: "Linux names a process, and what is loaded is that process's tree.",
        attempts: &[
            Attempt::stopped("ordinary-memory", ELSEWHERE),
            Attempt::stopped("kernel-root", ELSEWHERE),
            Attempt::stopped("compartment-root", ELSEWHERE),
        ],
        holds: &["I6", "P2"],
        ..Attack::ROW
    },
];
