// SPDX-License-Identifier: MIT OR Apache-2.0
//! U5: ASIDs and roots.

use super::{Attack, Attempt, Control, Without};

const ASID: &str = "refused: ASID is reserved or taken";

/// An ASID has one tree, a tree one process, and the reserved ASID none.
pub const ATTACK: Attack = Attack {
    id: "U5",
    title: "use the reserved ASID, one ASID for two processes, or free a root in use",
    attempts: &[
        Attempt::stopped("reserved", ASID),
        Attempt::stopped("twice", ASID),
        Attempt::stopped("free-current", "refused: table is in use"),
    ],
    controls: &[Control {
        without: Without::inner(&["weaken-asid"]),
        attempts: &["reserved", "twice"],
        seen_as: &[],
    }],
    cpu: None,
};
