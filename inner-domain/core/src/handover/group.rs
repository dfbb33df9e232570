// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contiguous groups: 16 entries that the TLB may hold as one (Arm DDI 0487, D8.7.1).

use super::cursor::Entry;
use crate::descriptor::{Attributes, Descriptor};
use crate::rules::Hardware;

/// Entries of a group with the 4 KiB granule, at level 2 and at level 3.
const GROUP: usize = 16;

/// What the first entry shows of the group that an entry belongs to; none if the group is not as
/// it must be: 16 valid leaves, aligned, one behind the other, alike in all other bits.
pub(super) fn first_output(hardware: &impl Hardware, entry: &Entry) -> Option<u64> {
    let within = entry.index % GROUP;
    let first = entry.place.entry - within as u64 * 8;
    let mut start = None;
    for index in 0..GROUP as u64 {
        let (output, attributes) = leaf(hardware.read(first + index * 8), entry)?;
        let (start, expected) = *start.get_or_insert((output, attributes));
        let aligned = start.is_multiple_of(GROUP as u64 * entry.level.size());
        if !aligned || output != start + index * entry.level.size() || attributes != expected {
            return None;
        }
    }
    start.map(|(output, _)| output)
}

/// A leaf of a group; none for anything else.
fn leaf(descriptor: u64, entry: &Entry) -> Option<(u64, Attributes)> {
    match Descriptor::decode(descriptor, entry.level) {
        Descriptor::Block { output, attributes } | Descriptor::Page { output, attributes } => {
            let part = attributes.contains(Attributes::CONTIGUOUS);
            part.then_some((output.as_u64(), attributes))
        }
        Descriptor::Table { .. } | Descriptor::Invalid => None,
    }
}
