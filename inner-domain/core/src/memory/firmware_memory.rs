// SPDX-License-Identifier: MIT OR Apache-2.0
//! RAM according to the memory map of a UEFI firmware.
//!
//! After ExitBootServices the operating system owns what the loader and the boot services used,
//! free memory, and the tables of ACPI if it does not read them (UEFI 2.10, 7.2, memory type usage
//! after ExitBootServices). The rest stays the firmware's or the hardware's: run-time services,
//! ACPI's non-volatile storage, reserved and unusable memory, registers, persistent memory, and
//! each kind that is not known here. A page that two entries disagree about is not RAM.

use donjon_abi::layout::PAGE_SIZE;

use crate::range::Range;

/// An entry of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// `Type`: EFI_MEMORY_TYPE.
    pub kind: u32,
    /// `Attribute`.
    pub attributes: u64,
    /// `PhysicalStart`.
    pub start: u64,
    /// `NumberOfPages`, of 4 KiB.
    pub pages: u64,
}

/// Code and data of the loader and of the boot services, free memory, tables of ACPI.
const FREE: [u32; 6] = [1, 2, 3, 4, 7, 9];

/// EFI_MEMORY_WB: the memory can be mapped write-back.
const WRITE_BACK: u64 = 1 << 3;
/// EFI_MEMORY_NV, _SP, _HOT_PLUGGABLE and _RUNTIME: non-volatile, for a special purpose, may be
/// unplugged, and used by the firmware at run time.
const UNSUITABLE: u64 = 1 << 15 | 1 << 18 | 1 << 20 | 1 << 63;

impl Region {
    fn is_free(&self) -> bool {
        FREE.contains(&self.kind)
            && self.attributes & WRITE_BACK != 0
            && self.attributes & UNSUITABLE == 0
    }

    /// The whole pages in it, if it is free memory.
    fn free(&self) -> Option<Range> {
        if !self.is_free() {
            return None;
        }
        let end = self.start.checked_add(self.pages.checked_mul(PAGE_SIZE)?)?;
        let start = self.start.checked_next_multiple_of(PAGE_SIZE)?;
        Range::new(start, end & !(PAGE_SIZE - 1))
    }

    /// Every page that it touches, if it is something else.
    fn taken(&self) -> Option<Range> {
        if self.is_free() || self.pages == 0 {
            return None;
        }
        let end = self
            .start
            .saturating_add(self.pages.saturating_mul(PAGE_SIZE));
        let end = end.checked_next_multiple_of(PAGE_SIZE).unwrap_or(u64::MAX);
        Range::new(self.start & !(PAGE_SIZE - 1), end)
    }
}

/// RAM in whole pages: in ascending order, with a gap between each two. The map may be in any
/// order and may overlap itself.
pub fn ram(map: &[Region]) -> impl Iterator<Item = Range> + '_ {
    core::iter::successors(next(map, 0), |last| next(map, last.end()))
}

/// The first RAM from `from` on.
fn next(map: &[Region], from: u64) -> Option<Range> {
    let start = first(map, from)?;
    let mut end = start;
    let beyond = |end| {
        let free = map.iter().filter_map(Region::free);
        free.filter(move |it| it.contains(end))
            .map(Range::end)
            .max()
    };
    while let Some(further) = beyond(end) {
        end = further;
    }
    let taken = map.iter().filter_map(Region::taken).map(Range::start);
    let cut = taken.filter(|it| (start..end).contains(it)).min();
    Range::new(start, cut.unwrap_or(end))
}

/// The first address of RAM from `from` on.
fn first(map: &[Region], mut from: u64) -> Option<u64> {
    loop {
        let free = map.iter().filter_map(Region::free);
        let start = free
            .filter(|it| it.end() > from)
            .map(|it| it.start().max(from))
            .min()?;
        let taken = map.iter().filter_map(Region::taken);
        match taken.filter(|it| it.contains(start)).map(Range::end).max() {
            Some(end) => from = end,
            None => return Some(start),
        }
    }
}

/// The `N` largest ranges in the order in which they came, and the bytes of the others.
pub fn largest<const N: usize>(
    ranges: impl IntoIterator<Item = Range>,
) -> (impl Iterator<Item = Range>, u64) {
    let mut list: [Option<Range>; N] = [None; N];
    let mut others = 0;
    let size = |it: Option<Range>| it.map_or(0, Range::size);
    for range in ranges {
        let smallest = (0..N).min_by_key(|index| size(list[*index]));
        match smallest {
            Some(index) if size(list[index]) < range.size() => {
                others += size(list[index]);
                list[index] = None;
                list[index..].rotate_left(1);
                list[N - 1] = Some(range);
            }
            _ => others += range.size(),
        }
    }
    (list.into_iter().flatten(), others)
}

#[cfg(test)]
mod tests;
