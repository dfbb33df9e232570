// SPDX-License-Identifier: MIT OR Apache-2.0
//! Root slots that Linux cannot link.

use donjon_abi::layout::{GATE_SLOT, INNER_SLOT, PHYSMAP_SLOT, ROOT_HALF, VMALLOC_END_SLOT};

/// Entries of the root that walks with a forged geometry read for the gate or the vectors, and
/// those of the inner domain. They stay as they are for ever (`docs/design.md`, forged geometry;
/// a test over every geometry keeps the list).
const NEVER_LINKED: [usize; 15] = [
    1,
    3,
    7,
    8,
    15,
    16,
    31,
    40,
    PHYSMAP_SLOT,
    INNER_SLOT,
    GATE_SLOT,
    104,
    112,
    VMALLOC_END_SLOT,
    240,
];

/// Whether Linux may link a table in a slot that is empty.
pub(crate) fn may_be_linked(slot: usize) -> bool {
    slot < ROOT_HALF && !NEVER_LINKED.contains(&slot)
}
