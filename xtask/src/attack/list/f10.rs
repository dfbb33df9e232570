// SPDX-License-Identifier: MIT OR Apache-2.0
//! F10: TLB conflicts made on purpose.

use super::{Attack, Attempt, Control, Without};

const ASID: &str = "refused: ASID is reserved or taken";

/// There are never two translations of one address that a TLB might hold at a time. What a
/// conflict does cannot be shown in QEMU, so here success is that the state is reached.
pub const ATTACK: Attack = Attack {
    id: "F10",
    title: "a contiguous entry alone, a live entry changed, an ASID for two roots",
    attempts: &[
        Attempt::stopped("contiguous", "refused: unknown bits or a block"),
        Attempt::stopped("live-change", "refused: valid entry not made invalid first"),
        Attempt::stopped("asid-twice", ASID),
        Attempt::stopped("asid-reserved", ASID),
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
        // They last as long as the attempt does.
        Control {
            without: Without::inner(&["weaken-asid"]),
            attempts: &["asid-twice", "asid-reserved"],
            seen_as: &[],
        },
    ],
    cpu: None,
};
