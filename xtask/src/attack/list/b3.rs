// SPDX-License-Identifier: MIT OR Apache-2.0
//! B3: aliases.

use super::{Attack, Attempt, Control, Without};

/// Linux does not hear of the refusal here: its functions return as if they had mapped.
const FAULT: &str = "refused, and an access faults";

/// Every way to map something ends in the same call.
pub const ATTACK: Attack = Attack {
    id: "B3",
    title: "another mapping of a table or of inner memory, by each of Linux's own ways",
    attempts: &[
        Attempt::stopped("vmap", FAULT),
        Attempt::stopped("ioremap", FAULT),
        Attempt::stopped("fixmap", FAULT),
        Attempt::stopped("user", FAULT),
        Attempt::stopped("block", "refused: permissions do not suit the frame"),
    ],
    controls: &[Control {
        without: Without::inner(&["weaken-target"]),
        attempts: &["vmap", "ioremap", "fixmap", "user", "block"],
        seen_as: &["I2", "I3", "I10"],
    }],
    cpu: None,
};
