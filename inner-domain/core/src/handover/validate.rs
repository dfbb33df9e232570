// SPDX-License-Identifier: MIT OR Apache-2.0
//! Step 2: checks that the kernel's tables are a tree.
//!
//! Every table gets its type here, also where it stands outside of the pool: that is how a second
//! parent shows.

use donjon_abi::layout::{GATE_SLOT, INNER_SLOT, PHYSMAP_SLOT, ROOT_HALF};

use super::cursor::{Cursor, Entry, UPPER_RANGE};
use super::error::{Fault, HandoverError};
use super::{EntryPlace, Takeover};
use crate::checks::Checks;
use crate::kernel_tables::may_be_linked;
use crate::translation::address::Level;
use crate::translation::descriptor::Descriptor;
use crate::translation::frames::FrameType;
use crate::translation::{FrameAddress, Hardware, RawDescriptor};

impl<H: Hardware, C: Checks> Takeover<'_, '_, H, C> {
    pub(super) fn validate(&mut self) -> Result<(), HandoverError> {
        self.validate_kernel_root()?;
        self.validate_kernel_tables()
    }

    /// The halves of the kernel's root agree, and what must be empty is.
    fn validate_kernel_root(&mut self) -> Result<(), HandoverError> {
        self.set(self.root, FrameType::KernelTable0);
        self.summary.kernel_tables += 1;
        for slot in 0..ROOT_HALF {
            let entry = self.root.entry(slot);
            let place = EntryPlace {
                va: UPPER_RANGE + ((slot as u64) << Level::Zero.shift()),
                entry: entry.as_u64(),
                descriptor: entry.read(self.hardware).0,
            };
            let twin = entry.after(ROOT_HALF).read(self.hardware).0;
            let fault = if slot == GATE_SLOT || may_be_linked(slot) {
                (place.descriptor != twin).then_some(Fault::HalvesDiffer(twin))
            } else {
                // The inner domain's slots have an entry in the other half.
                let empty = place.descriptor & 1 == 0;
                let twin_empty = twin & 1 == 0 || is_inner(slot);
                (!empty || !twin_empty).then_some(Fault::ForbiddenSlot)
            };
            if let Some(fault) = fault {
                return Err(HandoverError::Entry { place, fault });
            }
        }
        Ok(())
    }

    fn validate_kernel_tables(&mut self) -> Result<(), HandoverError> {
        let mut cursor = Cursor::kernel(self.root);
        while let Some(entry) = cursor.next(self.hardware) {
            // The gate's tables are looked at as a whole.
            if entry.level == Level::Zero && entry.index == GATE_SLOT {
                continue;
            }
            if let Some(next) = self
                .table_below(&entry)
                .map_err(HandoverError::at(entry.place))?
            {
                let class = self.kernel_class(&entry, next);
                let class = class.map_err(HandoverError::at(entry.place))?;
                self.set(next, class);
                self.summary.kernel_tables += 1;
                cursor.descend(next);
            }
        }
        Ok(())
    }

    /// What a frame becomes that an entry of a kernel table leads to.
    fn kernel_class(&self, entry: &Entry, next: FrameAddress) -> Result<FrameType, Fault> {
        let below = entry.level.next().ok_or(Fault::Reserved)?;
        match self.frame(next) {
            // Ordinary ones are copied later on. In the table block stands the linear map's, and
            // there is no reason to use another page of it.
            Some(FrameType::PoolFree | FrameType::Ordinary) => {}
            Some(FrameType::TableBlock) if next.as_u64() == self.linear_table() => {}
            Some(found) if found.as_table().is_some() => return Err(Fault::TwoParents),
            found => return Err(Fault::TableTarget(found)),
        }
        Ok(FrameType::table(below))
    }

    /// Enters a free frame of the pool as the table that `entry` leads to.
    pub(super) fn import(
        &mut self,
        entry: &Entry,
        table: FrameAddress,
    ) -> Result<(), HandoverError> {
        let place = entry.place;
        let imported = self
            .tables
            .import_table(table.as_u64(), place.entry, place.va);
        imported.map_err(|_| HandoverError::at(place)(Fault::TableTarget(self.frame(table))))
    }

    /// The table that an entry leads to; none for a leaf.
    pub(super) fn table_below(&self, entry: &Entry) -> Result<Option<FrameAddress>, Fault> {
        match entry.decode() {
            Descriptor::Invalid => Err(Fault::Reserved),
            Descriptor::Table { next, .. } => {
                if RawDescriptor(entry.place.descriptor).is_plain_table() {
                    Ok(Some(FrameAddress::of(next)))
                } else {
                    Err(Fault::TableBits)
                }
            }
            Descriptor::Block { .. } if entry.level == Level::One => Err(Fault::Level1Block),
            Descriptor::Block { .. } | Descriptor::Page { .. } => Ok(None),
        }
    }
}

/// Whether the inner half has an entry in this slot.
fn is_inner(slot: usize) -> bool {
    slot == PHYSMAP_SLOT || slot == INNER_SLOT
}
