// SPDX-License-Identifier: MIT OR Apache-2.0
//! D1: page tables.

use super::{Attack, Attempt, Control, Without};

const FAULT: &str = "the store through the linear map faulted";

/// The linear map shows tables read-only, and what the inner domain writes for others is written
/// to ordinary memory. Tables of users are in no view of Linux at all, whatever is left out.
pub const ATTACK: Attack = Attack {
    id: "D1",
    title: "store to a table through the linear map, or by the answer to a call",
    attempts: &[
        Attempt::stopped("kernel-table", FAULT),
        Attempt::stopped("user-table", FAULT),
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
    cpu: None,
};
