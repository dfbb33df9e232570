// SPDX-License-Identifier: MIT OR Apache-2.0
//! F19: registers.

use super::{Attack, Attempt, Control, Without};

const ZERO: &str = "14 registers are zero";

/// The gate clears them on the way out.
pub const ATTACK: Attack = Attack {
    id: "F19",
    title: "read what a call leaves in registers",
    attempts: &[
        Attempt::stopped("accepted", ZERO),
        Attempt::stopped("refused", ZERO),
        Attempt::stopped("poke", ZERO),
    ],
    controls: &[Control {
        without: Without::inner(&["weaken-no-clear"]),
        attempts: &["accepted", "refused", "poke"],
        seen_as: &[],
    }],
    cpu: None,
};
