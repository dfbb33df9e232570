// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each frame of RAM is, in two bytes per frame.
//!
//! The type of a frame decides who may map it and how; [`crate::rules`] changes types. Physical
//! addresses outside the table are not RAM, nor are those between the banks: devices, or nothing.

use donjon_abi::layout::PAGE_SIZE;

use crate::address::{ENTRIES, Level};
use crate::placement::Range;

/// The type of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum FrameType {
    /// The outer domain's own: data, mapped as it likes, never executable at EL1.
    Ordinary = 0,
    /// The inner domain's. In no mapping of the outer view.
    Inner = 1,
    /// In a pool of tables: zero and in no tree.
    PoolFree = 2,
    /// A user root.
    UserTable0 = 3,
    /// A user table of level 1.
    UserTable1 = 4,
    /// A user table of level 2.
    UserTable2 = 5,
    /// A user table of level 3.
    UserTable3 = 6,
    /// The kernel's root.
    KernelTable0 = 7,
    /// A kernel table of level 1.
    KernelTable1 = 8,
    /// A kernel table of level 2.
    KernelTable2 = 9,
    /// A kernel table of level 3.
    KernelTable3 = 10,
    /// Kernel code, executable at EL1, never writable.
    KernelText = 11,
    /// The exception vectors: kernel code that nobody patches.
    KernelVectors = 12,
    /// Kernel constants, never writable.
    KernelReadOnly = 13,
    /// In a pool for text, not in use.
    TextPoolFree = 14,
    /// Code of a module or of the BPF compiler.
    ModuleText = 15,
    /// Being taken from the outer domain for a pool: no new mapping.
    Claimed = 16,
    /// The gate.
    Gate = 17,
}

impl FrameType {
    /// Every type, in the order of their numbers.
    pub const ALL: [Self; 18] = [
        Self::Ordinary,
        Self::Inner,
        Self::PoolFree,
        Self::UserTable0,
        Self::UserTable1,
        Self::UserTable2,
        Self::UserTable3,
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
    ];

    /// The table type of a level: the user's or the kernel's.
    pub const fn table(level: Level, user: bool) -> Self {
        match (level, user) {
            (Level::Zero, true) => Self::UserTable0,
            (Level::One, true) => Self::UserTable1,
            (Level::Two, true) => Self::UserTable2,
            (Level::Three, true) => Self::UserTable3,
            (Level::Zero, false) => Self::KernelTable0,
            (Level::One, false) => Self::KernelTable1,
            (Level::Two, false) => Self::KernelTable2,
            (Level::Three, false) => Self::KernelTable3,
        }
    }

    /// Level of a table and whether it is a user's; none for what is no table.
    pub const fn as_table(self) -> Option<(Level, bool)> {
        Some(match self {
            Self::UserTable0 => (Level::Zero, true),
            Self::UserTable1 => (Level::One, true),
            Self::UserTable2 => (Level::Two, true),
            Self::UserTable3 => (Level::Three, true),
            Self::KernelTable0 => (Level::Zero, false),
            Self::KernelTable1 => (Level::One, false),
            Self::KernelTable2 => (Level::Two, false),
            Self::KernelTable3 => (Level::Three, false),
            _ => return None,
        })
    }
}

/// Shift of the part of an entry that says where the frame's metadata is: 0 for frames without
/// any, else the number of the block of pool frames, counted from 1.
const SLOT_SHIFT: u32 = 8;

/// What [`FrameTable::word`] gives where there is no RAM: no type has this number.
pub(crate) const NO_FRAME: u16 = 0x00ff;

/// The type of every frame of RAM.
///
/// An entry holds the type in its low byte. The high byte belongs to [`crate::rules`]. An
/// ordinary frame's entry is zero.
pub struct FrameTable<'a> {
    first: u64,
    entries: &'a mut [u16],
}

impl<'a> FrameTable<'a> {
    /// Entries that cover `ram`, the hull of all banks.
    pub const fn entries_for(ram: Range) -> u64 {
        (ram.end() - ram.start()).div_ceil(PAGE_SIZE)
    }

    /// A table for the frames from physical address `start` on. Types are what the entries say;
    /// zero is [`FrameType::Ordinary`]. What lies between the banks must be
    /// [removed](Self::remove).
    pub const fn new(start: u64, entries: &'a mut [u16]) -> Self {
        Self {
            first: start / PAGE_SIZE,
            entries,
        }
    }

    /// An address below the first wraps around to an index that no table has.
    #[inline]
    const fn index(&self, address: u64) -> usize {
        (address / PAGE_SIZE).wrapping_sub(self.first) as usize
    }

    /// The whole entry of the frame at a physical address, [`NO_FRAME`] where there is no RAM.
    #[inline]
    pub(crate) fn word(&self, address: u64) -> u16 {
        match self.entries.get(self.index(address)) {
            Some(entry) => *entry,
            None => NO_FRAME,
        }
    }

    /// The entries of the `count` frames from `address` on; none if the table ends before.
    pub(crate) fn words(&self, address: u64, count: usize) -> Option<&[u16]> {
        let first = self.index(address);
        self.entries.get(first..first.checked_add(count)?)
    }

    /// Gives all frames of a 2 MiB block a type and the number of their metadata's block.
    pub(crate) fn set_in_block(&mut self, block: u64, frame: FrameType, slot: u8) {
        let first = self.index(block);
        let entries = self.entries.iter_mut().skip(first).take(ENTRIES);
        entries.for_each(|entry| *entry = frame as u16 | u16::from(slot) << SLOT_SHIFT);
    }

    /// The type of the frame at a physical address; none where there is no RAM.
    #[inline]
    pub fn get(&self, address: u64) -> Option<FrameType> {
        type_of(self.word(address))
    }

    /// Changes the type of one frame. Outside RAM there is nothing to change.
    pub fn set(&mut self, address: u64, frame: FrameType) {
        let index = self.index(address);
        if let Some(entry) = self.entries.get_mut(index) {
            *entry = *entry >> SLOT_SHIFT << SLOT_SHIFT | frame as u16;
        }
    }

    /// Says that there is no RAM.
    pub fn remove(&mut self, address: u64) {
        let index = self.index(address);
        if let Some(entry) = self.entries.get_mut(index) {
            *entry = NO_FRAME;
        }
    }

    /// Changes the types of all frames of a range.
    pub fn set_range(&mut self, range: Range, frame: FrameType) {
        let mut address = range.start() & !(PAGE_SIZE - 1);
        while address < range.end() {
            self.set(address, frame);
            address += PAGE_SIZE;
        }
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
pub(crate) const fn slot_of(word: u16) -> u8 {
    (word >> SLOT_SHIFT) as u8
}
