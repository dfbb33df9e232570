// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes of entries of levels 0 to 2: tables are linked and unlinked, blocks mapped and cleared.

use donjon_abi::call::Reason;
use donjon_abi::layout::{PAGE_SIZE, ROOT_HALF};

use super::pool_frame::PoolFrame;
use super::slots;
use super::state::{COST_OF_TABLE, KernelTables};
use crate::checks::Checks;
use crate::translation::Hardware;
use crate::translation::address::{ENTRIES, Level, VirtualAddress};
use crate::translation::frames::FrameType;
use crate::translation::{EntryAddress, RawDescriptor};
use crate::translation::{flush, leaf};

/// An entry and the table that it stands in.
#[derive(Clone, Copy)]
pub(super) struct LinkedEntry {
    /// The entry.
    pub entry: EntryAddress,
    /// Index of the table among the pool frames.
    pub table: usize,
    /// Level of the table.
    pub level: Level,
}

impl<C: Checks> KernelTables<'_, C> {
    /// Replaces an entry of a table that has tables of level `below` below it.
    pub(super) fn write_table<H: Hardware>(
        &mut self,
        hw: &mut H,
        place: LinkedEntry,
        below: Level,
        value: RawDescriptor,
    ) -> Result<RawDescriptor, Reason> {
        let entry = place.entry;
        let old = entry.read(hw);
        if !value.is_valid() {
            if old.is_table() {
                self.unlink(hw, place, old, value)?;
            } else {
                entry.write(hw, value);
                if old.is_block() {
                    flush::block(hw, self.address(place));
                }
            }
            return Ok(old);
        }
        if value == old {
            return Ok(old);
        }
        if value.is_block() {
            if place.level != Level::Two {
                return Err(Reason::BadDescriptor);
            }
            self.charge(COST_OF_TABLE);
            leaf::check_block::<C>(&self.frames, &self.devices, value)?;
            if C::TRANSITION.is_made() && old.is_valid() && !value.is_live_change(old) {
                return Err(Reason::LiveChange);
            }
        } else {
            if C::TRANSITION.is_made() && old.is_valid() {
                return Err(Reason::LiveChange);
            }
            self.take(value, below, self.address(place))?;
            self.pool[place.table].children += 1;
        }
        entry.write(hw, value);
        Ok(old)
    }

    /// Replaces an entry of the kernel's root: from invalid to a table, in both halves.
    pub(super) fn write_root<H: Hardware>(
        &mut self,
        hw: &mut H,
        entry: EntryAddress,
        value: RawDescriptor,
    ) -> Result<RawDescriptor, Reason> {
        let slot = entry.index();
        if slot >= ROOT_HALF {
            return Err(Reason::BadEntry);
        }
        let old = entry.read(hw);
        if value == old {
            return Ok(old);
        }
        if old.is_valid() || !value.is_valid() || !slots::may_be_linked(slot) {
            return Err(Reason::BadSlot);
        }
        let va = VirtualAddress::OUTER.of_entry(Level::Zero, slot);
        self.take(value, Level::One, va)?;
        for entry in [entry.after(ROOT_HALF), entry] {
            entry.write(hw, value);
        }
        Ok(old)
    }

    /// First virtual address that an entry translates.
    pub(super) fn address(&self, place: LinkedEntry) -> VirtualAddress {
        let table = self.pool[place.table].va;
        table.of_entry(place.level, place.entry.index())
    }

    /// Makes the free frame that a table descriptor names a table of `level` for `va`, linked in a
    /// moment. On an error nothing has changed.
    ///
    /// A table stays where it is until it is released, also when it is linked nowhere: what it
    /// makes executable must not move.
    fn take(
        &mut self,
        descriptor: RawDescriptor,
        level: Level,
        va: VirtualAddress,
    ) -> Result<(), Reason> {
        if !descriptor.is_plain_table() {
            return Err(Reason::BadDescriptor);
        }
        let frame = descriptor.output().as_u64();
        let table = self.pool_index(frame).ok_or(Reason::BadTable)?;
        let class = FrameType::table(level);
        match self.frames.get(frame) {
            Some(FrameType::PoolFree) => {}
            Some(found) if found == class && !C::PARENT.is_made() => return Ok(()),
            _ => return Err(Reason::BadTable),
        }
        self.frames.set(frame, class);
        // No TLB holds what tables that were here before led to: it was dropped when they were
        // unlinked.
        self.pool[table] = PoolFrame::at(va);
        Ok(())
    }

    /// Unlinks a table. The TLB may hold any of its leaves, at both addresses, and the table
    /// itself; it happens rarely enough to drop everything.
    fn unlink<H: Hardware>(
        &mut self,
        hw: &mut H,
        place: LinkedEntry,
        old: RawDescriptor,
        value: RawDescriptor,
    ) -> Result<(), Reason> {
        let LinkedEntry { entry, table, .. } = place;
        let child = self.pool_index(old.output().as_u64());
        let child = child.ok_or(Reason::NotATable)?;
        entry.write(hw, value);
        self.pool[table].children = self.pool[table].children.saturating_sub(1);
        self.pool[child].detached = true;
        flush::everything(hw);
        Ok(())
    }
}

const _: () = assert!(ENTRIES as u64 * 8 == PAGE_SIZE);
