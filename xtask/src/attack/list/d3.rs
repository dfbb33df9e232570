// SPDX-License-Identifier: MIT OR Apache-2.0
//! D3: vectors.

use super::{Attack, Attempt, Control, Without};

/// The frame of the vectors is read-only wherever it is mapped, no call writes it, and no other
/// frame takes its place.
pub const ATTACK: Attack = Attack {
    id: "D3",
    title: "write the vectors, by each address that they have and by the call for text, or put others in their place",
    attempts: &[
        Attempt::stopped("linear-map", "the store through the linear map faulted"),
        Attempt::stopped("image", "the store through the kernel's image faulted"),
        Attempt::stopped("remap", "refused: permissions do not suit the frame"),
        Attempt::stopped("poke", "refused: not text that may change"),
        Attempt::stopped("replace", "refused: not text that may change"),
    ],
    controls: &[
        Control {
            without: Without::inner(&["weaken-target"]),
            attempts: &["remap"],
            seen_as: &["I4"],
        },
        Control {
            without: Without::inner(&["weaken-poke"]),
            attempts: &["poke"],
            seen_as: &[],
        },
        Control {
            without: Without::inner(&["weaken-vectors-page"]),
            attempts: &["replace"],
            seen_as: &["I7"],
        },
    ],
    cpu: None,
};
