// SPDX-License-Identifier: MIT OR Apache-2.0
//! Types for addresses of entries, addresses of frames and descriptors, so that one kind cannot
//! stand in for the others. The public interface of the rules takes plain numbers: what a caller
//! says is converted, and checked, where it comes in.

use donjon_abi::layout::PAGE_SIZE;

use super::bits;
use super::{Hardware, Step};
use crate::translation::address::{ENTRIES, PhysicalAddress};

/// Physical address of a frame: a multiple of the page size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct FrameAddress(u64);

impl FrameAddress {
    /// Stands where no frame is: the one at address 0.
    pub const NONE: Self = Self(0);

    /// None if `address` does not begin a page.
    pub const fn new(address: u64) -> Option<Self> {
        if address.is_multiple_of(PAGE_SIZE) {
            Some(Self(address))
        } else {
            None
        }
    }

    /// The frame that a physical address is in.
    #[inline(always)]
    pub const fn of(address: PhysicalAddress) -> Self {
        Self::containing(address.as_u64())
    }

    /// The frame that `address` is in.
    #[inline(always)]
    pub const fn containing(address: u64) -> Self {
        Self(address & !(PAGE_SIZE - 1))
    }

    /// The address as a number.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// The frame `count` frames behind this one.
    #[inline(always)]
    pub const fn after(self, count: u64) -> Self {
        Self(self.0 + count * PAGE_SIZE)
    }

    /// How many frames this one is behind `first`.
    #[inline(always)]
    pub const fn distance(self, first: Self) -> u64 {
        (self.0 - first.0) / PAGE_SIZE
    }

    /// The entry with an index below 512 of the frame as a table.
    #[inline(always)]
    pub const fn entry(self, index: usize) -> EntryAddress {
        EntryAddress(self.0 + index as u64 * 8)
    }

    /// One past the last entry of the frame as a table.
    #[inline(always)]
    pub const fn end(self) -> EntryAddress {
        EntryAddress(self.0 + PAGE_SIZE)
    }

    /// The entries of the frame as a table from `first`, one of them, on.
    pub fn entries_from(self, first: EntryAddress) -> impl Iterator<Item = EntryAddress> {
        (first.0..self.0 + PAGE_SIZE).step_by(8).map(EntryAddress)
    }

    /// Physical address of the byte `offset` bytes behind the first one.
    #[inline(always)]
    pub const fn byte(self, offset: u64) -> u64 {
        self.0 + offset
    }

    /// All entries of the frame as a table.
    pub fn entries(self) -> impl Iterator<Item = EntryAddress> {
        (self.0..self.0 + PAGE_SIZE).step_by(8).map(EntryAddress)
    }
}

/// Physical address of a table entry: a multiple of 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub(crate) struct EntryAddress(u64);

impl EntryAddress {
    /// None if `address` is not a multiple of 8.
    pub const fn new(address: u64) -> Option<Self> {
        if address.is_multiple_of(8) {
            Some(Self(address))
        } else {
            None
        }
    }

    /// None if `address` is not that of an entry with `index`, below 512, of some table.
    #[inline(always)]
    pub const fn with_index(address: u64, index: usize) -> Option<Self> {
        if address % PAGE_SIZE == index as u64 * 8 {
            Some(Self(address))
        } else {
            None
        }
    }

    /// The address as a number.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// The table that the entry stands in.
    pub const fn table(self) -> FrameAddress {
        FrameAddress(self.0 & !(PAGE_SIZE - 1))
    }

    /// The entry's index in its table.
    pub const fn index(self) -> usize {
        (self.0 / 8) as usize % ENTRIES
    }

    /// The entry `count` entries behind this one.
    pub const fn after(self, count: usize) -> Self {
        Self(self.0 + count as u64 * 8)
    }

    /// How many entries this one is behind `first`.
    #[inline(always)]
    pub const fn distance(self, first: Self) -> u64 {
        (self.0 - first.0) / 8
    }

    /// What stands in the entry.
    #[inline(always)]
    pub fn read<H: Hardware>(self, hw: &H) -> RawDescriptor {
        RawDescriptor(hw.read(self.0))
    }

    /// Stores a descriptor.
    #[inline(always)]
    pub fn write<H: Hardware>(self, hw: &mut H, value: RawDescriptor) {
        hw.perform(Step::Write {
            entry: self.0,
            value: value.0,
        });
    }
}

/// A descriptor as it stands in a table, whatever its level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct RawDescriptor(pub u64);

impl RawDescriptor {
    /// Takes no part in translation.
    pub const INVALID: Self = Self(0);

    /// Whether it takes part in translation.
    pub const fn is_valid(self) -> bool {
        bits::is_valid(self.0)
    }

    /// Whether it is a block, when it is valid and of level 0 to 2.
    pub const fn is_block(self) -> bool {
        bits::is_block(self.0)
    }

    /// Whether it leads to a table, when it is valid and of level 0 to 2.
    pub const fn is_table(self) -> bool {
        bits::is_table(self.0)
    }

    /// Whether it is a table descriptor without bits that the rules do not know.
    pub const fn is_plain_table(self) -> bool {
        self.is_table() && self.0 & !bits::OF_TABLE == 0
    }

    /// Whether EL1 may execute what it maps, when it is valid and a leaf.
    pub const fn is_executable(self) -> bool {
        self.0 & bits::NO_EL1 == 0
    }

    /// The frame that it maps or leads to.
    pub const fn output(self) -> FrameAddress {
        FrameAddress(self.0 & bits::OUTPUT_ADDRESS)
    }

    /// Whether it can take the place of `old` without being invalid in between.
    pub const fn is_live_change(self, old: Self) -> bool {
        (self.0 ^ old.0) & !bits::LIVE == 0
    }

    /// The descriptor with the bits of `set` set and those of `clear` cleared.
    pub const fn with(self, set: u64, clear: u64) -> Self {
        Self(self.0 & !clear | set)
    }
}
