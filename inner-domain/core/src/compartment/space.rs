// SPDX-License-Identifier: MIT OR Apache-2.0
//! The address space of a compartment: four levels of tables, all of them its own private frames.

use donjon_abi::call::{ACCESS_EXECUTE, ACCESS_READ, ACCESS_WRITE, Reason};
use donjon_abi::flow::{LOG, LOG_PAGES_MAX};
use donjon_abi::layout::PAGE_SIZE;

use super::{END, HEAP, State};
use crate::checks::{Checks, Configured};
use crate::memory::private::{Owner, Private};
use crate::translation::address::UserAddress;
use crate::translation::{EntryAddress, FrameAddress, Hardware, RawDescriptor, bits};

/// How a page of a compartment is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Constants.
    Read,
    /// Data.
    Write,
    /// Code. It is never writable.
    Execute,
}

impl Access {
    /// The access that an argument of a call names.
    pub const fn from_word(word: u64) -> Option<Self> {
        Some(match word {
            ACCESS_READ => Self::Read,
            ACCESS_WRITE => Self::Write,
            ACCESS_EXECUTE => Self::Execute,
            _ => return None,
        })
    }

    const fn bits(self) -> u64 {
        match self {
            Self::Read => bits::READ_ONLY | bits::NO_EL0,
            Self::Write => bits::NO_EL0,
            Self::Execute => bits::READ_ONLY,
        }
    }
}

/// What every page of a compartment has: Normal write-back memory (index 0), for EL0, under one
/// ASID, never executable at EL1.
const PAGE: u64 = bits::TABLE
    | bits::INNER_SHAREABLE
    | bits::ACCESSED
    | bits::EL0
    | bits::NON_GLOBAL
    | bits::NO_EL1;

/// Bytes that belong to the log from [`LOG`] on: the longest one, and a page behind it that is
/// never mapped.
const LOG_RANGE: u64 = (LOG_PAGES_MAX + 1) * PAGE_SIZE;

/// Levels above the pages' own.
pub(super) const UPPER: [u32; 3] = [39, 30, 21];

/// Where an entry for `va` stands in a table whose entries span 2^`shift` bytes.
pub(super) const fn place(table: FrameAddress, va: UserAddress, shift: u32) -> EntryAddress {
    table.entry((va.as_u64() >> shift & 511) as usize)
}

/// Whether pages may be mapped there.
pub(super) const fn is_page(va: UserAddress) -> bool {
    va.is_aligned(PAGE_SIZE) && va.as_u64() < END && va.as_u64() != 0
}

/// The page at an address, if Linux may say that one is to be mapped there: below the heap, and not
/// where a log of flow attestation is.
pub(super) fn may_be_filled(address: u64) -> Option<UserAddress> {
    let is_log = (LOG..LOG + LOG_RANGE).contains(&address) && Configured::FLOW_PLACE.is_made();
    UserAddress::new(address).filter(|va| is_page(*va) && address < HEAP && !is_log)
}

/// Takes a frame for a compartment, which is zero.
pub(super) fn take(
    state: &mut State,
    owner: Owner,
    private: &mut Private<'_>,
) -> Result<FrameAddress, Reason> {
    if state.frames >= state.limit && Configured::LIMIT.is_made() {
        return Err(Reason::OverLimit);
    }
    let frame = private.take(owner).ok_or(Reason::NoRoom)?;
    state.frames += 1;
    Ok(frame)
}

/// The entry of level 3 for an address, with the tables above it made.
pub(super) fn entry_for<H: Hardware>(
    hw: &mut H,
    state: &mut State,
    owner: Owner,
    private: &mut Private<'_>,
    va: UserAddress,
) -> Result<EntryAddress, Reason> {
    let mut table = state.root;
    for shift in UPPER {
        let entry = place(table, va, shift);
        let descriptor = entry.read(hw);
        table = if descriptor.is_valid() {
            descriptor.output()
        } else {
            let frame = take(state, owner, private)?;
            entry.write(hw, RawDescriptor(frame.as_u64() | bits::TABLE));
            frame
        };
    }
    Ok(place(table, va, 12))
}

/// The entry of level 3 for an address, if there is a table for it.
pub(super) fn entry_of<H: Hardware>(
    hw: &H,
    root: FrameAddress,
    va: UserAddress,
) -> Option<EntryAddress> {
    walk(hw, root, va).ok()
}

/// Maps a frame at an entry of level 3 that is invalid.
pub(super) fn map<H: Hardware>(
    hw: &mut H,
    entry: EntryAddress,
    frame: FrameAddress,
    access: Access,
) {
    let value = frame.as_u64() | PAGE | access.bits();
    entry.write(hw, RawDescriptor(value));
}

/// The first valid entry of a table from the one at `from` on, and what it leads to.
pub(super) fn first_valid<H: Hardware>(
    hw: &H,
    table: FrameAddress,
    from: EntryAddress,
) -> Option<(EntryAddress, FrameAddress)> {
    let entries = table.entries_from(from);
    entries
        .map(|entry| (entry, entry.read(hw)))
        .find(|(_, descriptor)| descriptor.is_valid())
        .map(|(entry, descriptor)| (entry, descriptor.output()))
}

/// What a search for a page came to.
pub(super) enum Next {
    /// A page and its descriptor.
    Page(UserAddress, RawDescriptor),
    /// No page so far: the search goes on at this address.
    Later(UserAddress),
    /// No further page.
    None,
}

/// The first page from the address of one on, as far as `looks` reach: each is at one entry of
/// level 3, or at one above where there is no table.
pub(super) fn next_page<H: Hardware>(
    hw: &H,
    root: FrameAddress,
    from: UserAddress,
    looks: &mut u32,
) -> Next {
    let mut next = from.as_u64();
    while let Some(va) = UserAddress::new(next).filter(|va| va.as_u64() < END) {
        if *looks == 0 {
            return Next::Later(va);
        }
        *looks -= 1;
        match walk(hw, root, va).map(|entry| entry.read(hw)) {
            Ok(descriptor) if descriptor.is_valid() => return Next::Page(va, descriptor),
            Ok(_) => next += PAGE_SIZE,
            Err(shift) => next = ((next >> shift) + 1) << shift,
        }
    }
    Next::None
}

/// The entry of level 3 for an address; without a table, what the entry above spans, as a shift.
fn walk<H: Hardware>(hw: &H, root: FrameAddress, va: UserAddress) -> Result<EntryAddress, u32> {
    let mut table = root;
    for shift in UPPER {
        let descriptor = place(table, va, shift).read(hw);
        if !descriptor.is_valid() {
            return Err(shift);
        }
        table = descriptor.output();
    }
    Ok(place(table, va, 12))
}
