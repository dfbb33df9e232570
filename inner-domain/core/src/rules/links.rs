// SPDX-License-Identifier: MIT OR Apache-2.0
//! Entries of levels 0 to 2: tables are linked and unlinked, kernel blocks mapped and cleared.

use donjon_abi::call::Reason;
use donjon_abi::layout::{PAGE_SIZE, ROOT_HALF};

use super::checks::Checks;
use super::pool_frame::{NO_ROOT, PoolFrame};
use super::step::{Hardware, Step};
use super::{LOOK_THROUGH, Rules, bits, flush, index_of, is_plain_table, slots};
use crate::address::{ENTRIES, Level};
use crate::frames::{FrameType, type_of};

/// An entry and the table that it stands in.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Physical address of the entry.
    pub entry: u64,
    /// Index of the table among the pool frames.
    pub table: usize,
    /// Level of the table.
    pub level: Level,
    /// Whether it is a user's.
    pub user: bool,
}

impl<C: Checks> Rules<'_, C> {
    /// Replaces an entry of a table of level 0 to 2.
    pub(super) fn write_table<H: Hardware>(
        &mut self,
        hw: &mut H,
        place: Place,
        value: u64,
    ) -> Result<u64, Reason> {
        let Place { entry, level, .. } = place;
        if level == Level::Zero && index_of(entry) >= ROOT_HALF {
            return Err(Reason::BadEntry);
        }
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
            if place.user || level != Level::Two {
                return Err(Reason::BadDescriptor);
            }
            self.add_effort(LOOK_THROUGH);
            self.check_block(value)?;
            let differs = (old ^ value) & !bits::LIVE != 0;
            if C::TRANSITION && bits::is_valid(old) && differs {
                return Err(Reason::LiveChange);
            }
            hw.perform(Step::Write { entry, value });
        } else {
            if C::TRANSITION && bits::is_valid(old) {
                return Err(Reason::LiveChange);
            }
            self.link(hw, place, value)?;
        }
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
        self.take(hw, value, FrameType::KernelTable1, NO_ROOT, va)?;
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

    fn link<H: Hardware>(&mut self, hw: &mut H, place: Place, value: u64) -> Result<(), Reason> {
        let Place { entry, table, .. } = place;
        let below = place.level.next().ok_or(Reason::BadDescriptor)?;
        let class = FrameType::table(below, place.user);
        let root = match (place.level, place.user) {
            (Level::Zero, true) => table as u16,
            _ => self.pool[table].root,
        };
        self.take(hw, value, class, root, self.address(place))?;
        self.pool[table].children += 1;
        hw.perform(Step::Write { entry, value });
        Ok(())
    }

    /// Makes the frame that a table descriptor names a table of `class` for `va`, linked in a
    /// moment. On an error nothing has changed.
    fn take<H: Hardware>(
        &mut self,
        hw: &mut H,
        descriptor: u64,
        class: FrameType,
        root: u16,
        va: u64,
    ) -> Result<(), Reason> {
        if !is_plain_table(descriptor) {
            return Err(Reason::BadDescriptor);
        }
        let frame = descriptor & bits::ADDRESS;
        let child = self.pool_index(frame).ok_or(Reason::BadTable)?;
        let user = root != NO_ROOT;
        let was = type_of(self.frames.word(frame));
        if was == Some(FrameType::PoolFree) {
            self.settle(hw, child, class);
            self.frames.set(frame, class);
            self.pool[child].children = 0;
        } else if was != Some(class) {
            return Err(Reason::BadTable);
        } else if self.pool[child].detached && user {
            // Kernel tables do not move: what they make executable stays where it is.
            // Nor do tables of tables with what is below them, which would have to learn its new
            // address: a call would take as long as there are entries.
            if self.pool[child].children != 0 {
                return Err(Reason::InUse);
            }
            self.flush_past(hw, child);
        } else if C::PARENT {
            return Err(Reason::BadTable);
        } else {
            return Ok(());
        }
        if user && self.pool[usize::from(root)].unflushed {
            self.flush_root(hw, usize::from(root));
        }
        let table = &mut self.pool[child];
        table.detached = false;
        table.root = root;
        table.va = va;
        // What may be in the TLB for these addresses comes from tables that were here before,
        // and those of a user were dropped just now, those of the kernel when they were
        // unlinked.
        table.stale = [0; ENTRIES / 64];
        Ok(())
    }

    /// Makes sure that no stale walk takes a free frame for what it was.
    ///
    /// Within its class a frame may be reused while stale entries lead to it, but for one thing:
    /// what it will map would appear at its old address as well, where nothing would ever
    /// invalidate it.
    pub(super) fn settle<H: Hardware>(&mut self, hw: &mut H, frame: usize, class: FrameType) {
        let PoolFrame {
            last,
            asid_or_epoch,
            ..
        } = self.pool[frame];
        if last == FrameType::PoolFree || asid_or_epoch != self.epoch {
            return;
        }
        if last != class {
            self.flush_all(hw);
        } else {
            self.flush_past(hw, frame);
        }
    }

    /// Drops what the TLB may hold for the root that a table was unlinked from, unless that has
    /// happened since.
    fn flush_past<H: Hardware>(&mut self, hw: &mut H, table: usize) {
        let PoolFrame { root, mark, .. } = self.pool[table];
        if root == NO_ROOT {
            // What a kernel table leaves is dropped when it is unlinked.
            return;
        }
        let past = self.pool.get(usize::from(root));
        if past.is_some_and(|past| past.flushes == mark) {
            self.flush_root(hw, usize::from(root));
        }
    }

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
        let root = usize::from(self.pool[child].root);
        match self.pool.get_mut(root).filter(|_| place.user) {
            Some(root) => {
                root.unflushed = true;
                self.pool[child].mark = root.flushes;
            }
            // A kernel table: rare, and the TLB may hold any of its leaves, at both addresses.
            None => self.flush_all(hw),
        }
        Ok(())
    }
}

const _: () = assert!(ENTRIES as u64 * 8 == PAGE_SIZE);
