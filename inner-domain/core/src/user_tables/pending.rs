// SPDX-License-Identifier: MIT OR Apache-2.0
//! Invalidations that a call still owes.

use donjon_abi::layout::PAGE_SIZE;

use crate::translation::address::UserAddress;
use crate::translation::bits;
use crate::translation::{EntryAddress, Hardware, RawDescriptor, Step, flush};

/// Pages that are invalidated one by one; beyond, the ASID is. Linux draws its own line at 512.
const MOST: u32 = 16;

/// Addresses whose entries changed under one ASID.
pub(super) struct Pending {
    asid: u16,
    /// The first of the addresses.
    first: UserAddress,
    /// One bit for each page from the first on.
    pages: u64,
    all: bool,
}

impl Pending {
    pub const fn new(asid: u16) -> Self {
        Self {
            asid,
            first: UserAddress::ZERO,
            pages: 0,
            all: false,
        }
    }

    /// The leaf of an address.
    pub fn add(&mut self, va: UserAddress) {
        if self.pages == 0 {
            self.first = va;
        }
        match va.as_u64().wrapping_sub(self.first.as_u64()) / PAGE_SIZE {
            page @ 0..64 => self.pages |= 1 << page,
            _ => self.all = true,
        }
    }

    /// Everything, as when a table was unlinked.
    pub const fn add_all(&mut self) {
        self.all = true;
    }

    /// Makes the stores visible to walks, invalidates, and waits until all CPUs have.
    #[inline(always)]
    pub fn complete<H: Hardware>(self, hw: &mut H) {
        if self.all || self.pages != 0 {
            self.invalidate(hw);
        }
    }

    #[inline(never)]
    fn invalidate<H: Hardware>(self, hw: &mut H) {
        let asid = self.asid;
        if self.all || self.pages.count_ones() > MOST {
            flush::asid(hw, asid);
            return;
        }
        hw.perform(Step::BarrierStore);
        let mut pages = self.pages;
        while pages != 0 {
            let va = self.first.as_u64() + u64::from(pages.trailing_zeros()) * PAGE_SIZE;
            pages &= pages - 1;
            hw.perform(Step::InvalidatePage { asid, va });
        }
        hw.perform(Step::Barrier);
    }
}

/// Replaces an entry, `old` by `new`, for an address: in place where only permissions differ, else
/// by way of an invalid entry. What is left to invalidate is noted.
#[inline(always)]
pub(super) fn replace<H: Hardware>(
    hw: &mut H,
    pending: &mut Pending,
    (entry, va): (EntryAddress, UserAddress),
    old: u64,
    new: u64,
) {
    let both = bits::is_valid(old) && bits::is_valid(new);
    if both && (old ^ new) & !bits::LIVE != 0 {
        break_entry(hw, pending.asid, entry, va);
    } else if bits::is_valid(old) {
        pending.add(va);
    }
    entry.write(hw, RawDescriptor(new));
}

/// Replaces a valid entry by another valid descriptor, and completes the invalidation before it
/// returns.
#[inline(always)]
pub(super) fn replace_now<H: Hardware>(
    hw: &mut H,
    asid: u16,
    (entry, va): (EntryAddress, UserAddress),
    old: u64,
    new: u64,
) {
    let breaks = (old ^ new) & !bits::LIVE != 0;
    let value = if breaks { 0 } else { new };
    entry.write(hw, RawDescriptor(value));
    hw.perform(Step::BarrierStore);
    let va = va.as_u64();
    hw.perform(Step::InvalidatePage { asid, va });
    hw.perform(Step::Barrier);
    if breaks {
        entry.write(hw, RawDescriptor(new));
    }
}

/// Makes an entry invalid, for all CPUs.
#[cold]
#[inline(never)]
pub(super) fn break_entry<H: Hardware>(
    hw: &mut H,
    asid: u16,
    entry: EntryAddress,
    va: UserAddress,
) {
    entry.write(hw, RawDescriptor::INVALID);
    let mut pending = Pending::new(asid);
    pending.add(va);
    pending.complete(hw);
}
