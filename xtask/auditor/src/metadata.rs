// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads the inner domain's metadata of each frame from its memory.
//!
//! The auditor believes it where nothing else can say, and never alone: a frame that is said to be
//! in a pool must not be writable anywhere (I2, I4), and a table that is reached must be one that
//! is written down (I1). So a wrong entry is named, whichever way it is wrong. The outer domain
//! cannot write here, so it cannot make a pool of a block by mapping it read-only.

use std::ops::Range;

use donjon_abi::layout::BLOCK_SIZE;

use super::descriptor::PAGE;
use super::memory::Memory;

/// A free frame of a pool of tables.
pub const POOL_FREE: u8 = 2;
/// The kernel's root; the levels below follow.
pub const KERNEL_ROOT: u8 = 3;
/// A free frame of a pool of text.
pub const TEXT_FREE: u8 = 10;
/// A frame of a pool of text, in use.
pub const TEXT: u8 = 11;
/// A frame of private memory.
pub const PRIVATE: u8 = 15;

/// Two bytes for each frame from the first byte of RAM on: its type, and for frames of a pool of
/// tables the number of the block.
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    first: u64,
    entries: Vec<[u8; 2]>,
}

impl Metadata {
    /// Reads the table at `place`, whose first entry is the frame at `first`.
    pub fn read(memory: &dyn Memory, place: &Range<u64>, first: u64) -> Self {
        let words = memory.words(place).into_iter();
        let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        let size = (place.end - place.start) as usize;
        let bytes = bytes.get(..size).unwrap_or(&bytes);
        Self {
            first,
            entries: bytes.as_chunks::<2>().0.to_vec(),
        }
    }

    /// The type of the frame at `pa`.
    pub fn kind(&self, pa: u64) -> Option<u8> {
        let index = pa.checked_sub(self.first)? / PAGE;
        Some(self.entries.get(index as usize)?[0])
    }

    /// Blocks that are pools of tables, all of them.
    pub fn table_pools(&self) -> Vec<Range<u64>> {
        let is_table = |it: &[u8; 2]| (POOL_FREE..=KERNEL_ROOT + 3).contains(&it[0]);
        self.blocks(|it| it[0][1] != 0 && it.iter().all(|it2| it2[1] == it[0][1] && is_table(it2)))
    }

    /// Frames of private memory, with their numbers from the first byte of RAM on.
    pub fn private(&self) -> impl Iterator<Item = (usize, u64)> {
        let frames = self.entries.iter().enumerate();
        let private = frames.filter(|(_, entry)| entry[0] == PRIVATE);
        private.map(|(number, _)| (number, self.first + number as u64 * PAGE))
    }

    /// Blocks that are pools of text.
    pub fn text_pools(&self) -> Vec<Range<u64>> {
        let is_text = |it: &[u8; 2]| [TEXT_FREE, TEXT].contains(&it[0]);
        self.blocks(|it| it.iter().all(is_text))
    }

    fn blocks(&self, is_pool: impl Fn(&[[u8; 2]]) -> bool) -> Vec<Range<u64>> {
        let frames = (BLOCK_SIZE / PAGE) as usize;
        // The first byte of RAM need not begin a block.
        let skip = (self.first.next_multiple_of(BLOCK_SIZE) - self.first) / PAGE;
        let mut found: Vec<Range<u64>> = Vec::new();
        let blocks = self.entries.get(skip as usize..).unwrap_or_default();
        for (number, block) in (0..).zip(blocks.chunks_exact(frames)) {
            if !is_pool(block) {
                continue;
            }
            let start = self.first.next_multiple_of(BLOCK_SIZE) + number * BLOCK_SIZE;
            match found.last_mut() {
                Some(last) if last.end == start => last.end += BLOCK_SIZE,
                _ => found.push(start..start + BLOCK_SIZE),
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use donjon_core::translation::frames::FrameType;

    #[test]
    fn the_numbers_are_those_that_the_inner_domain_writes() {
        assert_eq!(POOL_FREE, FrameType::PoolFree as u8);
        assert_eq!(KERNEL_ROOT, FrameType::KernelTable0 as u8);
        assert_eq!(KERNEL_ROOT + 3, FrameType::KernelTable3 as u8);
        assert_eq!(TEXT_FREE, FrameType::TextPoolFree as u8);
        assert_eq!(TEXT, FrameType::ModuleText as u8);
        assert_eq!(PRIVATE, FrameType::Private as u8);
    }

    #[allow(clippy::single_range_in_vec_init, reason = "lists of ranges")]
    #[test]
    fn a_pool_is_a_whole_block() {
        let mut metadata = Metadata {
            first: 0x4010_0000,
            entries: vec![[0, 0]; 3 * 512],
        };
        let block = 256 + 512;
        metadata.entries[256..block].fill([POOL_FREE, 1]);
        metadata.entries[300] = [KERNEL_ROOT + 3, 1];
        metadata.entries[block..block + 512].fill([TEXT_FREE, 0]);
        assert_eq!(metadata.table_pools(), [0x4020_0000..0x4040_0000]);
        assert_eq!(metadata.text_pools(), [0x4040_0000..0x4060_0000]);
        assert_eq!(
            metadata.kind(0x4020_0000 + 44 * PAGE),
            Some(KERNEL_ROOT + 3)
        );
        assert_eq!(metadata.kind(0x4000_0000), None);
        metadata.entries[301] = [0, 0];
        assert!(metadata.table_pools().is_empty());
    }
}
