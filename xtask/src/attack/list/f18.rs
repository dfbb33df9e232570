// SPDX-License-Identifier: MIT OR Apache-2.0
//! F18: two roots in one frame.

use super::{Attack, Attempt, Control, Without};

const REFUSED: &str = "refused: frame is not of this kind";

/// A root is a page, and what is loaded is a root. Success lasts as long as the attempt.
pub const ATTACK: Attack = Attack {
    id: "F18",
    title: "load or make a root in the second half of a root's frame",
    attempts: &[
        Attempt::stopped("load", REFUSED),
        Attempt::stopped("make", REFUSED),
    ],
    controls: &[Control {
        without: Without::inner(&["weaken-root"]),
        attempts: &["load"],
        seen_as: &[],
    }],
    cpu: None,
};
