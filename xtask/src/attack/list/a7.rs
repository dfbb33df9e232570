// SPDX-License-Identifier: MIT OR Apache-2.0
//! A7: jump to the exit write.

use super::{Attack, Attempt, Control, Without};

/// The outer view has no such page. A gate that leaves without narrowing leaves it one; the
/// vectors would notice that, so they do not look either.
pub const ATTACK: Attack = Attack {
    id: "A7",
    title: "jump to the gate's exit write with a value of one's own",
    attempts: &[Attempt::stopped(
        "exit-write",
        "the fetch of the exit write faulted",
    )],
    controls: &[Control {
        without: Without {
            inner: &["weaken-no-narrow", "weaken-vectors"],
            linux: Some("vectors"),
        },
        attempts: &["exit-write"],
        // Nothing stays: the thread ends in the outer view.
        seen_as: &[],
    }],
    cpu: None,
};
