// SPDX-License-Identifier: MIT OR Apache-2.0
//! B12: the source of text changes while it becomes text.

use super::{Attack, Attempt, Control, Without};

const SAME: &str = "what was looked at is what is there";

/// Each word of the source is read once.
pub const ATTACK: Attack = Attack {
    id: "B12",
    title: "change the source on another CPU while a page is sealed or a list is copied",
    attempts: &[
        Attempt::stopped("seal", SAME),
        Attempt::stopped("copy", SAME),
    ],
    controls: &[Control {
        without: Without::inner(&["weaken-read-once"]),
        attempts: &["seal", "copy"],
        seen_as: &["I8"],
    }],
    cpu: None,
};
