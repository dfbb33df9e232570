// SPDX-License-Identifier: MIT OR Apache-2.0
//! The blocks of the pools.

use donjon_abi::layout::{BLOCK_SIZE, PAGE_SIZE};

use crate::translation::FrameAddress;
use crate::translation::address::ENTRIES;

/// Most blocks of table pools: a block's number must fit in a byte of the frame table, where 0 is
/// none.
pub const MAX_TABLE_BLOCKS: usize = u8::MAX as usize;
/// Most blocks of text pools.
pub const MAX_TEXT_BLOCKS: usize = 32;

/// What a pool is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolKind {
    /// Translation tables.
    Tables,
    /// Text of modules and of the BPF compiler.
    Text,
    /// Memory of compartments.
    Private,
}

/// A block of a text pool.
#[derive(Clone, Copy)]
pub(crate) struct TextBlock {
    /// The block's first frame.
    pub start: FrameAddress,
    /// Frames without a use.
    pub free: u16,
}

/// Which block of memory has which part of the metadata.
pub(crate) struct Blocks {
    /// First physical address of the block with number i + 1.
    tables: [Option<u64>; MAX_TABLE_BLOCKS],
    /// The text blocks.
    pub text: [Option<TextBlock>; MAX_TEXT_BLOCKS],
}

impl Blocks {
    pub const NONE: Self = Self {
        tables: [None; MAX_TABLE_BLOCKS],
        text: [None; MAX_TEXT_BLOCKS],
    };

    /// Number for a new table block when there is metadata for `frames` pool frames.
    pub fn vacant(&self, frames: usize) -> Option<u8> {
        let rooms = self.tables.iter().take(frames / ENTRIES);
        let index = rooms.take_while(|it| it.is_some()).count();
        (index < MAX_TABLE_BLOCKS.min(frames / ENTRIES)).then(|| index as u8 + 1)
    }

    /// Enters a table block, or takes it out.
    pub fn set_tables(&mut self, number: u8, start: Option<u64>) {
        if let Some(block) = self.tables.get_mut(usize::from(number).wrapping_sub(1)) {
            *block = start;
        }
    }

    /// The pool frame with a number.
    pub fn frame(&self, index: usize) -> Option<FrameAddress> {
        let start = (*self.tables.get(index / ENTRIES)?)?;
        FrameAddress::new(start + (index % ENTRIES) as u64 * PAGE_SIZE)
    }

    /// Room for a new text block.
    pub fn vacant_text(&mut self) -> Option<&mut Option<TextBlock>> {
        self.text.iter_mut().find(|it| it.is_none())
    }

    /// The text block that a frame is in.
    pub fn text_of(&mut self, frame: FrameAddress) -> Option<&mut Option<TextBlock>> {
        let start = frame.as_u64() & !(BLOCK_SIZE - 1);
        let mut blocks = self.text.iter_mut();
        blocks.find(|it| it.is_some_and(|block| block.start.as_u64() == start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_tables_gets_a_number_that_has_metadata() {
        let mut blocks = Blocks::NONE;
        assert_eq!(blocks.vacant(ENTRIES - 1), None);
        for (number, frames) in [(1, ENTRIES), (2, 2 * ENTRIES)] {
            assert_eq!(blocks.vacant(frames), Some(number));
            blocks.set_tables(number, Some(u64::from(number) * BLOCK_SIZE));
            assert_eq!(blocks.vacant(frames), None);
        }
        assert_eq!(blocks.vacant(3 * ENTRIES), Some(3));
        blocks.set_tables(1, None);
        assert_eq!(blocks.vacant(2 * ENTRIES), Some(1));
        assert_eq!(blocks.vacant(usize::MAX), Some(1));
    }

    #[test]
    fn numbers_end() {
        let mut blocks = Blocks::NONE;
        for number in 1..=MAX_TABLE_BLOCKS as u8 {
            assert_eq!(blocks.vacant(usize::MAX), Some(number));
            blocks.set_tables(number, Some(0));
        }
        assert_eq!(blocks.vacant(usize::MAX), None);
    }
}
