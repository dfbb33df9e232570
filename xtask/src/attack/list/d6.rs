// SPDX-License-Identifier: MIT OR Apache-2.0
//! D6: roots.

use super::{Attack, Attempt};

const ELSEWHERE: &str = "TTBR0_EL1 leads elsewhere";

/// Linux names a process, and what is loaded is that process's tree, so there is no check that
/// could be left out.
pub const ATTACK: Attack = Attack {
    id: "D6",
    title: "load a root that stands in ordinary memory and maps inner memory, or the kernel's",
    attempts: &[
        Attempt::stopped("ordinary-memory", ELSEWHERE),
        Attempt::stopped("kernel-root", ELSEWHERE),
    ],
    controls: &[],
    cpu: None,
};
