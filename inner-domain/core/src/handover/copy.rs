// SPDX-License-Identifier: MIT OR Apache-2.0
//! Step 3: moves kernel tables that are outside of the pool into it.
//!
//! Linux's first tables are part of its image and it keeps no pointers to them. A copy has the
//! same entries, so an entry that leads to the copy instead translates as before: whatever a
//! TLB still remembers of the old table is right as well, until everything is invalidated at
//! the end. The old frame becomes ordinary memory only for readers after that.

use donjon_abi::layout::{GATE_SLOT, ROOT_HALF};

use super::Takeover;
use super::cursor::{Cursor, Entry};
use super::description::frames;
use super::error::HandoverError;
use crate::checks::Checks;
use crate::translation::address::{ENTRIES, Level};
use crate::translation::descriptor::Descriptor;
use crate::translation::frames::FrameType;
use crate::translation::{FrameAddress, Hardware, RawDescriptor, Step};

/// Address bits of a table descriptor.
const ADDRESS: u64 = 0x0000_ffff_ffff_f000;

impl<H: Hardware, C: Checks> Takeover<'_, '_, H, C> {
    /// Copies what has to be copied and enters all tables of the kernel.
    pub(super) fn copy_tables(&mut self) -> Result<(), HandoverError> {
        // A frame that Linux has set aside for a table looks like a free one. It takes them from
        // the beginning of the pool, so these come from the end.
        let mut free = frames(self.description.table_pool).rev();
        let mut cursor = Cursor::kernel(self.root);
        while let Some(entry) = cursor.next(self.hardware) {
            let Descriptor::Table { next, .. } = entry.decode() else {
                continue;
            };
            if entry.level == Level::Zero && entry.index == GATE_SLOT {
                continue;
            }
            let mut table = FrameAddress::of(next);
            if !self.stays(table) {
                let copy = free
                    .find(|frame| self.frame(*frame) == Some(FrameType::PoolFree))
                    .ok_or(HandoverError::PoolExhausted(table.as_u64()))?;
                self.copy(table, copy);
                let value = entry.place.descriptor & !ADDRESS | copy.as_u64();
                self.relink(&entry, RawDescriptor(value));
                self.set(table, FrameType::Ordinary);
                self.summary.copied += 1;
                table = copy;
            }
            if !self.machine.table_block.contains(table.as_u64()) {
                // The mark of the validation has done its work.
                self.set(table, FrameType::PoolFree);
                self.import(&entry, table)?;
            }
            cursor.descend(table);
        }
        Ok(())
    }

    fn stays(&self, table: FrameAddress) -> bool {
        let table = table.as_u64();
        self.description.table_pool.contains(table) || self.machine.table_block.contains(table)
    }

    fn copy(&mut self, from: FrameAddress, to: FrameAddress) {
        for index in 0..ENTRIES {
            let value = from.entry(index).read(self.hardware);
            to.entry(index).write(self.hardware, value);
        }
        self.hardware.perform(Step::BarrierStore);
    }

    /// Changes an entry of a kernel table, in both halves of the root.
    fn relink(&mut self, entry: &Entry, value: RawDescriptor) {
        entry.address.write(self.hardware, value);
        if entry.level == Level::Zero {
            let twin = entry.address.after(ROOT_HALF);
            twin.write(self.hardware, value);
        }
        self.hardware.perform(Step::BarrierStore);
    }
}
