// SPDX-License-Identifier: MIT OR Apache-2.0
//! Step 3: moves kernel tables that are outside of the pool into it.
//!
//! Linux's first tables are part of its image and it keeps no pointers to them. A copy has the
//! same entries, so an entry that leads to the copy instead translates as before: whatever a
//! TLB still remembers of the old table is right as well, until everything is invalidated at
//! the end. The old frame becomes ordinary memory only for readers after that.

use donjon_abi::layout::{GATE_SLOT, PAGE_SIZE, ROOT_HALF};

use super::Takeover;
use super::cursor::Cursor;
use super::description::units;
use super::error::HandoverError;
use crate::checks::Checks;
use crate::translation::address::{ENTRIES, Level};
use crate::translation::descriptor::Descriptor;
use crate::translation::frames::FrameType;
use crate::translation::{Hardware, Step};

/// Address bits of a table descriptor.
const ADDRESS: u64 = 0x0000_ffff_ffff_f000;

impl<H: Hardware, C: Checks> Takeover<'_, '_, H, C> {
    /// Copies what has to be copied and enters all tables of the kernel.
    pub(super) fn copy_tables(&mut self) -> Result<(), HandoverError> {
        // A frame that Linux has set aside for a table looks like a free one. It takes them from
        // the beginning of the pool, so these come from the end.
        let mut free = units(self.description.table_pool, PAGE_SIZE).rev();
        let mut cursor = Cursor::kernel(self.machine.root);
        while let Some(entry) = cursor.next(self.hardware) {
            let Descriptor::Table { next, .. } = entry.decode() else {
                continue;
            };
            if entry.level == Level::Zero && entry.index == GATE_SLOT {
                continue;
            }
            let mut table = next.as_u64();
            if !self.stays(table) {
                let copy = free
                    .find(|frame| self.frame(*frame) == Some(FrameType::PoolFree))
                    .ok_or(HandoverError::PoolExhausted(table))?;
                self.copy(table, copy);
                let place = entry.place;
                self.relink(entry.level, place.entry, place.descriptor & !ADDRESS | copy);
                self.set(table, FrameType::Ordinary);
                self.summary.copied += 1;
                table = copy;
            }
            if !self.machine.table_block.contains(table) {
                // The mark of the validation has done its work.
                self.set(table, FrameType::PoolFree);
                self.import(&entry, table)?;
            }
            cursor.descend(table);
        }
        Ok(())
    }

    fn stays(&self, table: u64) -> bool {
        self.description.table_pool.contains(table) || self.machine.table_block.contains(table)
    }

    fn copy(&mut self, from: u64, to: u64) {
        for offset in (0..ENTRIES as u64).map(|index| index * 8) {
            let value = self.hardware.read(from + offset);
            let entry = to + offset;
            self.hardware.perform(Step::Write { entry, value });
        }
        self.hardware.perform(Step::BarrierStore);
    }

    /// Changes an entry of a kernel table, in both halves of the root.
    fn relink(&mut self, level: Level, entry: u64, value: u64) {
        self.hardware.perform(Step::Write { entry, value });
        if level == Level::Zero {
            let entry = entry + ROOT_HALF as u64 * 8;
            self.hardware.perform(Step::Write { entry, value });
        }
        self.hardware.perform(Step::BarrierStore);
    }
}
