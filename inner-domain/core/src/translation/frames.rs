// SPDX-License-Identifier: MIT OR Apache-2.0
//! The type of each frame of RAM, in two bytes per frame.
//!
//! The type of a frame decides who may map it and how; [`crate::kernel_tables`] and
//! [`crate::pools`] change types. Physical addresses outside the table are not RAM, nor are those
//! between the banks: devices, or nothing.

use core::sync::atomic::{AtomicU16, Ordering};

use donjon_abi::layout::PAGE_SIZE;

use crate::range::Range;
use crate::translation::address::{ENTRIES, Level};

/// The type of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum FrameType {
    /// The outer domain's own: data, mapped as it likes, never executable at EL1.
    Ordinary = 0,
    /// The inner domain's. In no mapping of the outer view.
    Inner = 1,
    /// Frame of a pool of tables: zero and in no tree.
    PoolFree = 2,
    /// The kernel's root.
    KernelTable0 = 3,
    /// A kernel table of level 1.
    KernelTable1 = 4,
    /// A kernel table of level 2.
    KernelTable2 = 5,
    /// A kernel table of level 3.
    KernelTable3 = 6,
    /// Kernel code, executable at EL1, never writable.
    KernelText = 7,
    /// The exception vectors: kernel code that is never patched.
    KernelVectors = 8,
    /// Kernel constants, never writable.
    KernelReadOnly = 9,
    /// Frame of a pool for text, not in use.
    TextPoolFree = 10,
    /// Code of a module or of the BPF compiler.
    ModuleText = 11,
    /// Being taken from the outer domain for a pool: no new mapping.
    Claimed = 12,
    /// The gate.
    Gate = 13,
    /// A page of the table block that is no table of Linux's: the gate's tables, and what is zero
    /// because a walk with a forged geometry may read it.
    TableBlock = 14,
    /// Frame of the pool that compartments get their memory from. In no mapping of the outer view,
    /// the linear map included.
    Private = 15,
}

impl FrameType {
    /// Every type, in the order of their numbers.
    pub const ALL: [Self; 16] = [
        Self::Ordinary,
        Self::Inner,
        Self::PoolFree,
        Self::KernelTable0,
        Self::KernelTable1,
        Self::KernelTable2,
        Self::KernelTable3,
        Self::KernelText,
        Self::KernelVectors,
        Self::KernelReadOnly,
        Self::TextPoolFree,
        Self::ModuleText,
        Self::Claimed,
        Self::Gate,
        Self::TableBlock,
        Self::Private,
    ];

    /// The type of a kernel table of a level.
    pub const fn table(level: Level) -> Self {
        match level {
            Level::Zero => Self::KernelTable0,
            Level::One => Self::KernelTable1,
            Level::Two => Self::KernelTable2,
            Level::Three => Self::KernelTable3,
        }
    }

    /// Level of a table; none for what is no table.
    pub const fn as_table(self) -> Option<Level> {
        Some(match self {
            Self::KernelTable0 => Level::Zero,
            Self::KernelTable1 => Level::One,
            Self::KernelTable2 => Level::Two,
            Self::KernelTable3 => Level::Three,
            _ => return None,
        })
    }
}

/// Shift of the part of an entry that says where the frame's metadata is: 0 for frames without
/// any, else the number of the block of pool frames, counted from 1.
const POOL_BLOCK_SHIFT: u32 = 8;

/// What [`FrameTable::word`] gives where there is no RAM: no type has this number.
pub(crate) const NO_FRAME: u16 = 0x00ff;

/// The type of every frame of RAM.
///
/// An entry holds the type in its low byte. The high byte belongs to [`crate::kernel_tables`]. An
/// ordinary frame's entry is zero.
///
/// Every copy is a view of the same entries. They are read without a lock and changed under that
/// of the rules. A reader that must not miss a change is waited for
/// ([`UserTables::withdraw`](crate::user_tables::UserTables::withdraw)).
#[derive(Clone, Copy)]
pub struct FrameTable<'a> {
    first: u64,
    entries: &'a [AtomicU16],
}

impl<'a> FrameTable<'a> {
    /// Entries that cover `ram`, the hull of all banks.
    pub const fn entries_for(ram: Range) -> u64 {
        (ram.end() - ram.start()).div_ceil(PAGE_SIZE)
    }

    /// A table for the frames from physical address `start` on. Types are what the entries say;
    /// zero is [`FrameType::Ordinary`]. What lies between the banks must be
    /// [removed](Self::remove).
    pub const fn new(start: u64, entries: &'a [AtomicU16]) -> Self {
        Self {
            first: start / PAGE_SIZE,
            entries,
        }
    }

    /// An address below the first wraps around to an index that no table has.
    #[inline]
    pub(crate) const fn index(&self, address: u64) -> usize {
        (address / PAGE_SIZE).wrapping_sub(self.first) as usize
    }

    /// The whole entry of the frame at a physical address, [`NO_FRAME`] where there is no RAM.
    #[inline]
    pub(crate) fn word(&self, address: u64) -> u16 {
        match self.entries.get(self.index(address)) {
            Some(entry) => entry.load(Ordering::Relaxed),
            None => NO_FRAME,
        }
    }

    /// Whether the frames at two physical addresses are both ordinary memory.
    #[inline(always)]
    pub(crate) fn are_ordinary(&self, one: u64, other: u64) -> bool {
        const { assert!(FrameType::Ordinary as u16 == 0, "the words are joined") };
        let Some(one) = self.entries.get(self.index(one)) else {
            return false;
        };
        let Some(other) = self.entries.get(self.index(other)) else {
            return false;
        };
        one.load(Ordering::Relaxed) | other.load(Ordering::Relaxed) == 0
    }

    /// The entries of the `count` frames from `address` on; none if the table ends before.
    pub(crate) fn words(
        &self,
        address: u64,
        count: usize,
    ) -> Option<impl Iterator<Item = u16> + Clone + use<'a>> {
        let first = self.index(address);
        let entries = self.entries.get(first..first.checked_add(count)?)?;
        Some(entries.iter().map(|entry| entry.load(Ordering::Relaxed)))
    }

    /// Whether all frames of the 2 MiB block at `block` are ordinary memory; none if the table
    /// ends before. Eight at a time: a test for each takes three times as many instructions.
    pub(crate) fn is_ordinary_block(&self, block: u64) -> Option<bool> {
        const { assert!(FrameType::Ordinary as u16 == 0, "the words are joined") };
        const { assert!(ENTRIES.is_multiple_of(8), "no frame is left over") };
        let first = self.index(block);
        let entries = self.entries.get(first..first.checked_add(ENTRIES)?)?;
        let (groups, _) = entries.as_chunks::<8>();
        Some(groups.iter().all(|group| {
            let words = group.iter().map(|entry| entry.load(Ordering::Relaxed));
            words.fold(0, |joined, word| joined | word) == 0
        }))
    }

    /// How many of the `count` frames from `address` on a search for the kernel's leaf tables may
    /// skip: a multiple of eight. It ends before a group of eight in which the type of a frame has
    /// the bit that the types of both leaf levels have.
    pub(crate) fn without_leaf_table(&self, address: u64, count: usize) -> usize {
        const LEAF_TABLE: u16 = FrameType::KernelTable2 as u16 & FrameType::KernelTable3 as u16;
        const {
            assert!(
                LEAF_TABLE & FrameType::PoolFree as u16 == 0,
                "a free frame is skipped"
            )
        };
        let first = self.index(address);
        let end = self.entries.len().min(first.saturating_add(count));
        let (groups, _) = self.entries.get(first..end).unwrap_or(&[]).as_chunks::<8>();
        let without = |group: &&[AtomicU16; 8]| {
            let words = group.iter().map(|entry| entry.load(Ordering::Relaxed));
            words.fold(0, |joined, word| joined | word) & LEAF_TABLE == 0
        };
        groups.iter().take_while(without).count() * 8
    }

    /// Gives all frames of a 2 MiB block a type and the number of their metadata's block.
    pub(crate) fn set_in_block(&self, block: u64, frame: FrameType, number: u8) {
        let first = self.index(block);
        let word = frame as u16 | u16::from(number) << POOL_BLOCK_SHIFT;
        let end = self.entries.len().min(first.saturating_add(ENTRIES));
        let (groups, rest) = self.entries.get(first..end).unwrap_or(&[]).as_chunks::<8>();
        let set = |entry: &AtomicU16| entry.store(word, Ordering::Relaxed);
        // Eight at a time: one by one takes twice as many instructions.
        for group in groups {
            group.iter().for_each(set);
        }
        rest.iter().for_each(set);
    }

    /// The type of the frame at a physical address; none where there is no RAM.
    #[inline]
    pub fn get(&self, address: u64) -> Option<FrameType> {
        type_of(self.word(address))
    }

    /// Changes the type of one frame. Outside RAM there is nothing to change.
    pub fn set(&self, address: u64, frame: FrameType) {
        let index = self.index(address);
        if let Some(entry) = self.entries.get(index) {
            let number = entry.load(Ordering::Relaxed) >> POOL_BLOCK_SHIFT << POOL_BLOCK_SHIFT;
            entry.store(number | frame as u16, Ordering::Relaxed);
        }
    }

    /// Says that there is no RAM.
    pub fn remove(&self, address: u64) {
        let index = self.index(address);
        if let Some(entry) = self.entries.get(index) {
            entry.store(NO_FRAME, Ordering::Relaxed);
        }
    }

    /// How many frames there are from the first one to the one at a physical address; none where
    /// the table has no entry.
    pub fn number(&self, address: u64) -> Option<u32> {
        let index = self.index(address);
        u32::try_from(index)
            .ok()
            .filter(|_| index < self.entries.len())
    }

    /// Physical address of the frame with a [number](Self::number).
    pub const fn address(&self, number: u32) -> u64 {
        (self.first + number as u64) * PAGE_SIZE
    }

    /// First physical address of the table and one past its last.
    pub fn span(&self) -> (u64, u64) {
        let start = self.first * PAGE_SIZE;
        (start, start + self.entries.len() as u64 * PAGE_SIZE)
    }
}

/// The type in an entry; none for [`NO_FRAME`].
#[inline]
pub(crate) fn type_of(word: u16) -> Option<FrameType> {
    FrameType::ALL.get(usize::from(word & 0xff)).copied()
}

/// The number of the metadata's block in an entry.
#[inline]
pub(crate) const fn pool_block_of(word: u16) -> u8 {
    (word >> POOL_BLOCK_SHIFT) as u8
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    const START: u64 = 0x4000_0000;

    /// Entries of free frames of a pool's third block.
    fn free_frames(count: usize) -> Vec<AtomicU16> {
        let word = FrameType::PoolFree as u16 | 3 << POOL_BLOCK_SHIFT;
        (0..count).map(|_| AtomicU16::new(word)).collect()
    }

    #[test]
    fn no_leaf_table_is_skipped() {
        for frame in FrameType::ALL {
            let is_leaf_table = matches!(frame.as_table(), Some(Level::Two | Level::Three));
            for at in 0..ENTRIES {
                let entries = free_frames(ENTRIES);
                let frames = FrameTable::new(START, &entries);
                frames.set(START + at as u64 * PAGE_SIZE, frame);
                let skipped = frames.without_leaf_table(START, ENTRIES);
                assert!(skipped == ENTRIES || skipped == at / 8 * 8, "{frame:?}");
                assert!(!is_leaf_table || skipped <= at, "{frame:?} at {at}");
            }
        }
    }

    #[test]
    fn skipping_ends_with_what_was_asked_for() {
        let entries = free_frames(20);
        let frames = FrameTable::new(START, &entries);
        for (from, count, skipped) in [(0, 20, 16), (0, 7, 0), (3, 8, 8), (4, 600, 16), (13, 9, 0)]
        {
            let address = START + from * PAGE_SIZE;
            assert_eq!(frames.without_leaf_table(address, count), skipped);
        }
        assert_eq!(frames.without_leaf_table(START - PAGE_SIZE, 8), 0);
        assert_eq!(frames.without_leaf_table(START + 21 * PAGE_SIZE, 8), 0);
    }
}
