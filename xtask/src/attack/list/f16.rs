// SPDX-License-Identifier: MIT OR Apache-2.0
//! F16: the gate at a second address.

use super::{Attack, Attempt, Control, Without};

/// A table write makes nothing executable at EL1, and the gate's frame is mapped nowhere else.
pub const ATTACK: Attack = Attack {
    id: "F16",
    title: "map the gate's frame once more, executable or writable",
    attempts: &[
        Attempt::stopped("execute", "refused: executable at EL1"),
        Attempt::stopped("write", "refused: permissions do not suit the frame"),
    ],
    controls: &[
        Control {
            without: Without::inner(&["weaken-target", "weaken-execute"]),
            attempts: &["execute"],
            seen_as: &["I13"],
        },
        Control {
            without: Without::inner(&["weaken-target"]),
            attempts: &["write"],
            seen_as: &["I3"],
        },
    ],
    cpu: None,
};
