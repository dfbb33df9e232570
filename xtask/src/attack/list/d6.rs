// SPDX-License-Identifier: MIT OR Apache-2.0
//! D6: roots.

use super::{Attack, Attempt, Control, Without};

const WRONG: &str = "refused: frame is not of this kind";

/// What is loaded is a root of the pool. Success lasts as long as the attempt.
pub const ATTACK: Attack = Attack {
    id: "D6",
    title: "load a root that stands in ordinary memory and maps inner memory, or the kernel's",
    attempts: &[
        Attempt::stopped("ordinary-memory", WRONG),
        Attempt::stopped("kernel-root", WRONG),
    ],
    controls: &[Control {
        without: Without::inner(&["weaken-root"]),
        attempts: &["ordinary-memory", "kernel-root"],
        seen_as: &[],
    }],
    cpu: None,
};
