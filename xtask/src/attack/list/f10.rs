// SPDX-License-Identifier: MIT OR Apache-2.0
//! F10: TLB conflicts made on purpose.

use super::{Attack, Attempt, Control, Without};

/// There are never two translations of one address that a TLB might hold at a time. What a
/// conflict does cannot be shown in QEMU, so here success is that the state is reached.
pub const ATTACK: Attack = Attack {
    id: "F10",
    title: "a contiguous entry alone, a live entry changed",
    attempts: &[
        Attempt::stopped("contiguous", "refused: unknown bits or a block"),
        Attempt::stopped("live-change", "refused: valid entry not made invalid first"),
    ],
    controls: &[
        Control {
            without: Without::inner(&["weaken-contiguous"]),
            attempts: &["contiguous"],
            seen_as: &["I10"],
        },
        Control {
            without: Without::inner(&["weaken-transition"]),
            attempts: &["live-change"],
            seen_as: &[],
        },
    ],
    cpu: None,
};
