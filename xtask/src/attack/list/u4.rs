// SPDX-License-Identifier: MIT OR Apache-2.0
//! U4: a mapping that outlives its frame's type.

use super::{Attack, Attempt, Control, Without};

const FAULT: &str = "a store of the process faults";

/// Mappings of a frame are dropped before it stops being ordinary.
pub const ATTACK: Attack = Attack {
    id: "U4",
    title: "keep a user mapping of memory that becomes a pool",
    attempts: &[
        Attempt::stopped("tables", FAULT),
        Attempt::stopped("text", FAULT),
    ],
    controls: &[Control {
        without: Without::inner(&["weaken-withdraw"]),
        attempts: &["tables", "text"],
        seen_as: &["I2", "I4"],
    }],
    cpu: None,
};
