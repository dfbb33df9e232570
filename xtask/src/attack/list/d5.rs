// SPDX-License-Identifier: MIT OR Apache-2.0
//! D5: TCR_EL1.

use super::{Attack, Attempt, Control, Without};

/// The scan of new instructions refuses a write of it.
pub const ATTACK: Attack = Attack {
    id: "D5",
    title: "write TCR_EL1 by an instruction put into the module's text or into a page that becomes text",
    attempts: &[
        Attempt::stopped("poke", "refused: an instruction is not allowed"),
        Attempt::stopped("seal", "refused: each of "),
    ],
    controls: &[Control {
        without: Without::inner(&["weaken-scan"]),
        attempts: &["poke", "seal"],
        seen_as: &["I8"],
    }],
    cpu: None,
};
