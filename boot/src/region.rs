// SPDX-License-Identifier: MIT OR Apache-2.0
//! The inner domain's memory, handed out page by page while its tables are built.

use donjon_abi::layout::PAGE_SIZE;
use donjon_core::range::Range;
use donjon_core::translation::address::PhysicalAddress;
use donjon_core::translation::inner_tables::TableMemory;

use crate::failure::Failure;

/// Free pages of a range, lowest first.
pub struct Region {
    range: Range,
    next: u64,
}

impl Region {
    /// Makes a region of which nothing is taken yet.
    pub fn new(range: Range) -> Self {
        Self {
            range,
            next: range.start(),
        }
    }

    /// The first address that is not taken.
    pub const fn free(&self) -> u64 {
        self.next
    }

    /// A zeroed piece, aligned to `alignment`, a power of two.
    pub fn take(&mut self, size: u64, alignment: u64) -> Result<PhysicalAddress, Failure> {
        let start = self.next.next_multiple_of(alignment);
        let end = start + size.next_multiple_of(PAGE_SIZE);
        if end > self.range.end() {
            return Err(Failure::NoRoom((end - self.range.end()) >> 10));
        }
        self.next = end;
        // SAFETY: the range is RAM that placement found free, identity-mapped and ours alone;
        // this piece of it was not handed out before.
        unsafe { core::ptr::write_bytes(start as *mut u8, 0, (end - start) as usize) };
        PhysicalAddress::new(start).ok_or(Failure::Address(start))
    }
}

impl TableMemory for Region {
    fn allocate(&mut self) -> Option<PhysicalAddress> {
        self.take(PAGE_SIZE, PAGE_SIZE).ok()
    }

    fn read(&self, table: PhysicalAddress, index: usize) -> u64 {
        read(table, index)
    }

    fn write(&mut self, table: PhysicalAddress, index: usize, value: u64) {
        write(table, index, value);
    }
}

/// A few pages that are known beforehand: the gate's tables in the table block.
pub struct Pages<'a>(pub &'a [PhysicalAddress]);

impl TableMemory for Pages<'_> {
    fn allocate(&mut self) -> Option<PhysicalAddress> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn read(&self, table: PhysicalAddress, index: usize) -> u64 {
        read(table, index)
    }

    fn write(&mut self, table: PhysicalAddress, index: usize, value: u64) {
        write(table, index, value);
    }
}

fn read(table: PhysicalAddress, index: usize) -> u64 {
    // SAFETY: tables are pages of the region or of the table block, identity-mapped; the trait
    // promises an index below 512.
    unsafe {
        (table.as_u64() as *const u64)
            .add(index % 512)
            .read_volatile()
    }
}

fn write(table: PhysicalAddress, index: usize, value: u64) {
    // SAFETY: tables are pages of the region or of the table block, identity-mapped; the trait
    // promises an index below 512; nothing walks these tables yet.
    unsafe {
        (table.as_u64() as *mut u64)
            .add(index % 512)
            .write_volatile(value)
    }
}
