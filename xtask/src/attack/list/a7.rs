// SPDX-License-Identifier: MIT OR Apache-2.0
//! A7: jump to the exit write.

use super::{Attack, Attempt};

/// Nothing to leave out shows more: the outer view has no such page.
pub const ATTACK: Attack = Attack {
    id: "A7",
    title: "jump to the gate's exit write with a value of one's own",
    attempts: &[Attempt::stopped(
        "exit-write",
        "the fetch of the exit write faulted",
    )],
    controls: &[],
    cpu: None,
};
