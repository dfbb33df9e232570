// SPDX-License-Identifier: MIT OR Apache-2.0
//! What Linux says of itself, checked for sense. Whether it is so, the walk shows.

use donjon_abi::call::Handover;
use donjon_abi::layout::{BLOCK_SIZE, PAGE_SIZE};

use super::error::DescriptionError;
use crate::code::vectors::{VECTORS_SIZE, VECTORS_START};
use crate::range::Range;
use crate::translation::FrameAddress;

/// Alignment of the vectors (VBAR_EL1).
const VECTORS_ALIGNMENT: u64 = 0x800;

/// A description that makes sense.
#[derive(Clone, Copy, Debug)]
pub(super) struct Description {
    /// Physical, whole blocks.
    pub table_pool: Range,
    /// Physical, whole blocks; none for a kernel that loads no code.
    pub text_pool: Option<Range>,
    /// Virtual, whole pages.
    pub text: Range,
    /// Virtual, whole pages.
    pub constants: Range,
    /// Virtual address of the page with the vectors.
    pub vectors: u64,
}

impl Description {
    pub fn new(said: &Handover) -> Result<Self, DescriptionError> {
        let text = range(said.text_start, said.text_end, PAGE_SIZE)?;
        let constants = range(said.rodata_start, said.rodata_end, PAGE_SIZE)?;
        let (start, end) = (constants.start(), constants.end());
        if text.overlaps(constants) {
            return Err(DescriptionError::Range { start, end });
        }
        let in_place = said.vectors.wrapping_sub(VECTORS_START) < VECTORS_SIZE;
        let aligned = said.vectors.is_multiple_of(VECTORS_ALIGNMENT);
        if !text.contains(said.vectors) || !aligned || !in_place {
            return Err(DescriptionError::Vectors(said.vectors));
        }
        let text_pool = match (said.text_pool_start, said.text_pool_end) {
            (start, end) if start == end => None,
            (start, end) => Some(range(start, end, BLOCK_SIZE)?),
        };
        Ok(Self {
            table_pool: range(said.table_pool_start, said.table_pool_end, BLOCK_SIZE)?,
            text_pool,
            text,
            constants,
            vectors: said.vectors & !(PAGE_SIZE - 1),
        })
    }
}

fn range(start: u64, end: u64, unit: u64) -> Result<Range, DescriptionError> {
    Range::new(start, end)
        .filter(|_| start.is_multiple_of(unit) && end.is_multiple_of(unit))
        .ok_or(DescriptionError::Range { start, end })
}

/// The frames of a range.
pub(super) fn frames(range: Range) -> impl DoubleEndedIterator<Item = FrameAddress> {
    units(range, PAGE_SIZE).map(FrameAddress::containing)
}

/// The pages or blocks of a range.
pub(super) fn units(range: Range, unit: u64) -> impl DoubleEndedIterator<Item = u64> {
    (0..range.size() / unit).map(move |index| range.start() + index * unit)
}
