// SPDX-License-Identifier: MIT OR Apache-2.0
//! Page tables of the kernel.

use super::{Attack, Attempt, Control, Without};

const REFUSED: &str = "refused: permissions do not suit the frame";
const REFUSED_AND_FAULTS: &str = "refused, and an access faults";
const STORE_FAULT: &str = "the store through the linear map faulted";
const PARENT: &str = "refused: table has a parent or another level";

/// The rows.
pub const ATTACKS: &[Attack] = &[
    Attack {
        name: "map-protected-memory",
        alias: Some("A1"),
        title: "map inner memory or a table, writable, by a table write",
        stopped_by: "The type of a frame decides how it may be mapped.",
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
        ..Attack::ROW
    },
    Attack {
        name: "map-text-writable",
        title: "map text or constants a second time, writable, by a table write",
        stopped_by: "The type of a frame decides how it may be mapped.",
        attempts: &[
            Attempt::stopped("kernel", REFUSED),
            Attempt::stopped("module", REFUSED),
            Attempt::stopped("constants", REFUSED),
        ],
        controls: &[Control {
            without: Without::inner(&["weaken-target"]),
            attempts: &["kernel", "module", "constants"],
            seen_as: &["I4"],
        }],
        ..Attack::ROW
    },
    // TCR_EL1.HD is 0 and the CPU would not act on DBM: two protections, of which this is the
    // first. The CPU has to have the feature for the second to be one.
    Attack {
        name: "map-table-with-dbm",
        alias: Some("F14"),
        title: "map a table read-only with DBM",
        stopped_by: "DBM counts as writable.",
        attempts: &[Attempt::stopped("table", REFUSED)],
        controls: &[Control {
            without: Without::inner(&["weaken-dbm"]),
            attempts: &["table"],
            seen_as: &["I2"],
        }],
        cpu: Some("max"),
        ..Attack::ROW
    },
    // Linux does not hear of the refusal: its functions return as if they had mapped.
    Attack {
        name: "map-by-linux-functions",
        alias: Some("B3"),
        title: "another mapping of a table or of inner memory, by each of Linux's own ways",
        stopped_by: "Every way to map something ends in the same call.",
        attempts: &[
            Attempt::stopped("vmap", REFUSED_AND_FAULTS),
            Attempt::stopped("ioremap", REFUSED_AND_FAULTS),
            Attempt::stopped("fixmap", REFUSED_AND_FAULTS),
            Attempt::stopped("user", REFUSED_AND_FAULTS),
            Attempt::stopped("block", REFUSED),
        ],
        controls: &[Control {
            without: Without::inner(&["weaken-target"]),
            attempts: &["vmap", "ioremap", "fixmap", "user", "block"],
            seen_as: &["I2", "I3", "I10"],
        }],
        ..Attack::ROW
    },
    // Tables of users are in no view of Linux at all, whatever is left out.
    Attack {
        name: "store-to-table",
        alias: Some("D1"),
        title: "store to a table through the linear map, or by the answer to a call",
        stopped_by: "The linear map shows tables read-only, and what the inner domain writes for others is written to ordinary memory.",
        attempts: &[
            Attempt::stopped("kernel-table", STORE_FAULT),
            Attempt::stopped("user-table", STORE_FAULT),
            Attempt::stopped("reply", "refused: the address is not Linux's to name"),
        ],
        controls: &[
            Control {
                without: Without::inner(&["weaken-pool"]),
                attempts: &["kernel-table"],
                seen_as: &["I2", "I3"],
            },
            Control {
                without: Without::inner(&["weaken-buffer"]),
                attempts: &["reply"],
                seen_as: &["I3"],
            },
        ],
        ..Attack::ROW
    },
    Attack {
        name: "link-table-twice",
        alias: Some("F17"),
        title: "link a table a second time",
        stopped_by: "A table has one parent.",
        attempts: &[Attempt::stopped("kernel", PARENT)],
        controls: &[Control {
            without: Without::inner(&["weaken-parent"]),
            attempts: &["kernel"],
            seen_as: &["I1"],
        }],
        ..Attack::ROW
    },
];
