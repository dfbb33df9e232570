// SPDX-License-Identifier: MIT OR Apache-2.0
//! Entries of levels 0 to 2: tables are linked and unlinked, blocks mapped and cleared.

use donjon_abi::call::Reason;
use donjon_abi::layout::{PAGE_SIZE, ROOT_HALF};

use super::checks::Checks;
use super::pool_frame::PoolFrame;
use super::step::{Hardware, Step};
use super::{LOOK_THROUGH, Rules, bits, flush, index_of, is_plain_table, slots};
use crate::address::{ENTRIES, Level};
use crate::frames::FrameType;

/// An entry and the table that it stands in.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Physical address of the entry.
    pub entry: u64,
    /// Index of the table among the pool frames.
    pub table: usize,
    /// Level of the table.
    pub level: Level,
}

impl<C: Checks> Rules<'_, C> {
    /// Replaces an entry of a table that has tables of level `below` below it.
    pub(super) fn write_table<H: Hardware>(
        &mut self,
        hw: &mut H,
        place: Place,
        below: Level,
        value: u64,
    ) -> Result<u64, Reason> {
        let entry = place.entry;
        let old = hw.read(entry);
        if !bits::is_valid(value) {
            if bits::is_table(old) {
                self.unlink(hw, place, old, value)?;
            } else {
                hw.perform(Step::Write { entry, value });
                if bits::is_block(old) {
                    flush::block(hw, self.address(place));
                }
            }
            return Ok(old);
        }
        if value == old {
            return Ok(old);
        }
        if bits::is_block(value) {
            if place.level != Level::Two {
                return Err(Reason::BadDescriptor);
            }
            self.add_effort(LOOK_THROUGH);
            self.check_block(value)?;
            let differs = (old ^ value) & !bits::LIVE != 0;
            if C::TRANSITION && bits::is_valid(old) && differs {
                return Err(Reason::LiveChange);
            }
        } else {
            if C::TRANSITION && bits::is_valid(old) {
                return Err(Reason::LiveChange);
            }
            self.take(value, below, self.address(place))?;
            self.pool[place.table].children += 1;
        }
        hw.perform(Step::Write { entry, value });
        Ok(old)
    }

    /// Replaces an entry of the kernel's root: from invalid to a table, in both halves.
    pub(super) fn write_root<H: Hardware>(
        &mut self,
        hw: &mut H,
        entry: u64,
        value: u64,
    ) -> Result<u64, Reason> {
        let slot = index_of(entry);
        if slot >= ROOT_HALF {
            return Err(Reason::BadEntry);
        }
        let old = hw.read(entry);
        if value == old {
            return Ok(old);
        }
        if bits::is_valid(old) || !bits::is_valid(value) || !slots::may_be_linked(slot) {
            return Err(Reason::BadSlot);
        }
        let va = u64::MAX << 47 | (slot as u64) << Level::Zero.shift();
        self.take(value, Level::One, va)?;
        let entries = [entry + ROOT_HALF as u64 * 8, entry];
        for entry in entries {
            hw.perform(Step::Write { entry, value });
        }
        Ok(old)
    }

    /// First virtual address that an entry translates.
    pub(super) fn address(&self, place: Place) -> u64 {
        self.pool[place.table].va + ((index_of(place.entry) as u64) << place.level.shift())
    }

    /// Makes the free frame that a table descriptor names a table of `level` for `va`, linked in a
    /// moment. On an error nothing has changed.
    ///
    /// A table stays where it is until it is released, also when it is linked nowhere: what it
    /// makes executable must not move.
    fn take(&mut self, descriptor: u64, level: Level, va: u64) -> Result<(), Reason> {
        if !is_plain_table(descriptor) {
            return Err(Reason::BadDescriptor);
        }
        let frame = descriptor & bits::ADDRESS;
        let table = self.pool_index(frame).ok_or(Reason::BadTable)?;
        let class = FrameType::table(level);
        match self.frames.get(frame) {
            Some(FrameType::PoolFree) => {}
            Some(found) if found == class && !C::PARENT => return Ok(()),
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
        place: Place,
        old: u64,
        value: u64,
    ) -> Result<(), Reason> {
        let Place { entry, table, .. } = place;
        let child = self.pool_index(old & bits::ADDRESS);
        let child = child.ok_or(Reason::NotATable)?;
        hw.perform(Step::Write { entry, value });
        self.pool[table].children = self.pool[table].children.saturating_sub(1);
        self.pool[child].detached = true;
        flush::everything(hw);
        Ok(())
    }
}

const _: () = assert!(ENTRIES as u64 * 8 == PAGE_SIZE);
