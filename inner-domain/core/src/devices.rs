// SPDX-License-Identifier: MIT OR Apache-2.0
//! Device memory that the outer domain may map: whole pages, in few ranges.
//!
//! What is neither RAM nor on this list is never mapped. The boot stage makes the list from
//! the device tree: a device is on it because a rule says why it may be ([`decide`]).

use donjon_abi::boot_info::{Bank, MAX_DEVICES, MAX_MEDIATED, MAX_READABLE, Mediated};
use donjon_abi::layout::PAGE_SIZE;
use donjon_abi::tcr::PHYSICAL_ADDRESS_BITS;
use thiserror::Error;

use crate::range::Range;

pub mod pins;
pub mod plugged;
pub mod properties;
pub mod reserved;
mod rules;

pub use rules::{Decision, Effect, RULES, Rule, WITHHELD, decide};

/// The list has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "the devices are in more than {MAX_DEVICES} pieces of the address space; the one at {address:#x} has no room"
)]
pub struct TooManyDevices {
    /// First address of the device that did not fit.
    pub address: u64,
}

/// Sorted ranges of whole pages that neither overlap nor touch, and pages that may be mapped
/// read-only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceList {
    ranges: [Bank; MAX_DEVICES],
    used: usize,
    readable: [Bank; MAX_READABLE],
    mediated: [Mediated; MAX_MEDIATED],
}

/// A register of 32 bits that the inner domain writes for Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WritableRegister {
    /// Virtual address of the register in the inner domain.
    pub address: u64,
    /// The bits that Linux may set.
    pub bits: u32,
}

impl Default for DeviceList {
    fn default() -> Self {
        Self::new()
    }
}

impl DeviceList {
    /// No device.
    pub const fn new() -> Self {
        Self {
            ranges: [Bank { start: 0, end: 0 }; MAX_DEVICES],
            used: 0,
            readable: [Bank { start: 0, end: 0 }; MAX_READABLE],
            mediated: [Mediated {
                registers: Bank { start: 0, end: 0 },
                mapped: 0,
                bits: 0,
            }; MAX_MEDIATED],
        }
    }

    /// The list that [`banks`](Self::banks) gave; empty ones are skipped.
    ///
    /// # Errors
    ///
    /// None for what [`banks`](Self::banks) gave.
    pub fn from_banks(banks: &[Bank]) -> Result<Self, TooManyDevices> {
        let mut list = Self::new();
        for range in banks.iter().filter_map(|it| Range::new(it.start, it.end)) {
            list.add(range)?;
        }
        Ok(list)
    }

    /// The ranges, empty ones at the end.
    pub const fn banks(&self) -> [Bank; MAX_DEVICES] {
        self.ranges
    }

    /// The ranges.
    pub fn iter(&self) -> impl Iterator<Item = Bank> + '_ {
        self.ranges.iter().take(self.used).copied()
    }

    /// Adds the pages that `range` touches, as far as they can be addressed.
    ///
    /// # Errors
    ///
    /// [`TooManyDevices`] if the list is full; it is unchanged then.
    pub fn add(&mut self, range: Range) -> Result<(), TooManyDevices> {
        let Some(added) = pages(range) else {
            return Ok(());
        };
        let touching = |it: &Bank| it.start <= added.end && added.start <= it.end;
        let mut hull = added;
        let mut rest = self.without_ranges();
        for it in self.iter() {
            if touching(&it) {
                hull.start = hull.start.min(it.start);
                hull.end = hull.end.max(it.end);
            } else {
                rest.ranges[rest.used] = it;
                rest.used += 1;
            }
        }
        rest.insert(hull)?;
        *self = rest;
        Ok(())
    }

    /// Takes the pages that `range` touches out of the list.
    ///
    /// # Errors
    ///
    /// [`TooManyDevices`] if a range would become two and there is no room; the list is unchanged
    /// then.
    pub fn remove(&mut self, range: Range) -> Result<(), TooManyDevices> {
        let Some(removed) = pages(range) else {
            return Ok(());
        };
        let mut rest = self.without_ranges();
        for it in self.iter() {
            let parts = [
                (it.start, it.end.min(removed.start)),
                (it.start.max(removed.end), it.end),
            ];
            for (start, end) in parts.into_iter().filter(|(start, end)| start < end) {
                rest.insert(Bank { start, end })?;
            }
        }
        *self = rest;
        Ok(())
    }

    /// The list without RAM: a frame of memory has a type, and no device is where memory is.
    ///
    /// # Errors
    ///
    /// [`TooManyDevices`] as for [`remove`](Self::remove).
    pub fn without_memory(mut self, banks: &[Range]) -> Result<Self, TooManyDevices> {
        for bank in banks {
            self.remove(*bank)?;
        }
        Ok(self)
    }

    const fn without_ranges(&self) -> Self {
        Self {
            readable: self.readable,
            mediated: self.mediated,
            ..Self::new()
        }
    }

    /// Replaces the pages that may be mapped read-only, and the registers that are written there
    /// for Linux.
    #[must_use]
    pub const fn with_mediated(
        self,
        readable: [Bank; MAX_READABLE],
        mediated: [Mediated; MAX_MEDIATED],
    ) -> Self {
        Self {
            readable,
            mediated,
            ..self
        }
    }

    /// Whether all of `range` is in pages that may be mapped read-only.
    pub fn is_readable(&self, range: Range) -> bool {
        self.readable
            .iter()
            .any(|it| it.start <= range.start() && range.end() <= it.end)
    }

    /// The register at this physical address; none if it is not on the list.
    pub fn writable_register(&self, address: u64) -> Option<WritableRegister> {
        if !address.is_multiple_of(4) {
            return None;
        }
        let of = |it: &&Mediated| it.registers.start <= address && address < it.registers.end;
        let found = self.mediated.iter().find(of)?;
        Some(WritableRegister {
            address: found.mapped + (address - found.registers.start),
            bits: found.bits as u32,
        })
    }

    /// Whether all of `range` is on the list.
    pub fn encloses(&self, range: Range) -> bool {
        // They are in order and apart. One by one takes too long for a list of table writes.
        let ranges = self.ranges.get(..self.used).unwrap_or(&[]);
        let behind = ranges.partition_point(|it| it.start <= range.start());
        let last = behind.checked_sub(1).and_then(|it| ranges.get(it));
        last.is_some_and(|it| range.end() <= it.end)
    }

    fn insert(&mut self, bank: Bank) -> Result<(), TooManyDevices> {
        if self.used == MAX_DEVICES {
            let address = bank.start;
            return Err(TooManyDevices { address });
        }
        let place = self.iter().filter(|it| it.start < bank.start).count();
        self.ranges.copy_within(place..self.used, place + 1);
        self.ranges[place] = bank;
        self.used += 1;
        Ok(())
    }
}

/// The pages that a range touches, cut off where physical addresses end.
const fn pages(range: Range) -> Option<Bank> {
    const END: u64 = 1 << PHYSICAL_ADDRESS_BITS;
    if range.start() >= END {
        return None;
    }
    let end = if range.end() < END { range.end() } else { END };
    Some(Bank {
        start: range.start() & !(PAGE_SIZE - 1),
        end: end.next_multiple_of(PAGE_SIZE),
    })
}

/// What one entry of a `ranges` property says: where a part of a bus appears on its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// First address on the bus.
    pub child: u64,
    /// The address that it has on the parent.
    pub parent: u64,
    /// Bytes.
    pub size: u64,
}

impl Window {
    /// Where `range` of the bus appears on the parent, if all of it lies in this window.
    pub fn translate(self, range: Range) -> Option<Range> {
        let offset = range.start().checked_sub(self.child)?;
        if offset.checked_add(range.size())? > self.size {
            return None;
        }
        Range::with_size(self.parent.checked_add(offset)?, range.size())
    }
}

#[cfg(test)]
mod tests;
