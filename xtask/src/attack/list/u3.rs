// SPDX-License-Identifier: MIT OR Apache-2.0
//! U3: a descriptor that changes while it is taken over.

use super::{Attack, Attempt, Control, Without};

/// Each descriptor is read once.
pub const ATTACK: Attack = Attack {
    id: "U3",
    title: "change a descriptor between its check and its use",
    attempts: &[Attempt::stopped(
        "source",
        "all that was mapped was checked",
    )],
    controls: &[Control {
        without: Without::inner(&["weaken-once"]),
        attempts: &["source"],
        seen_as: &["I3"],
    }],
    cpu: None,
};
