// SPDX-License-Identifier: MIT OR Apache-2.0
//! B11: text that changes while another CPU executes it.

use super::{Attack, Attempt, Control, Without};

const LIVE: &str = "refused: another CPU may execute the text";

/// Outside the manual's short list text changes only while all other CPUs wait inside, and at its
/// executable address alone.
pub const ATTACK: Attack = Attack {
    id: "B11",
    title: "change instructions that another CPU executes, or at an address that is an alias",
    attempts: &[
        Attempt::stopped("arithmetic", LIVE),
        Attempt::stopped("outside", "refused: not now"),
        Attempt::stopped("one-side", LIVE),
        Attempt::stopped("among-others", LIVE),
        Attempt::stopped("early", "changes fell into its waits"),
        Attempt::stopped("alias", "refused: not text that may change"),
    ],
    controls: &[
        Control {
            without: Without::inner(&["weaken-live-text"]),
            attempts: &["arithmetic", "outside", "one-side", "among-others", "early"],
            seen_as: &[],
        },
        Control {
            without: Without::inner(&["weaken-alias"]),
            attempts: &["alias"],
            seen_as: &[],
        },
    ],
    cpu: None,
};
