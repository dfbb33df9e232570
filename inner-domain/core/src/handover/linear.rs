// SPDX-License-Identifier: MIT OR Apache-2.0
//! Steps 1 and 6: the pools, and the linear map that shows them.

use donjon_abi::call::Reason;
use donjon_abi::layout::{BLOCK_SIZE, LINEAR_L1_PAGE, PAGE_SIZE, SLOT_SIZE};

use super::cursor::{Cursor, UPPER_RANGE};
use super::description::{frames, units};
use super::error::{DescriptionError, Fault, HandoverError};
use super::{EntryPlace, Takeover};
use crate::checks::Checks;
use crate::kernel_tables::PoolKind;
use crate::translation::address::{ENTRIES, Level};
use crate::translation::descriptor::{Attributes, Descriptor};
use crate::translation::frames::FrameType;
use crate::translation::{FrameAddress, Hardware, Step};

/// Bit 1 of a page, which a block has not.
const PAGE: u64 = 0b10;

impl<H: Hardware, C: Checks> Takeover<'_, '_, H, C> {
    /// Enters the blocks that Linux names as pools. Nothing is known of their contents.
    pub(super) fn open_pools(&mut self) -> Result<(), HandoverError> {
        for block in units(self.description.table_pool, BLOCK_SIZE) {
            self.open_pool(block, PoolKind::Tables)?;
        }
        for block in self.text_blocks() {
            self.open_pool(block, PoolKind::Text)?;
        }
        Ok(())
    }

    fn open_pool(&mut self, block: u64, kind: PoolKind) -> Result<(), DescriptionError> {
        let first = FrameAddress::containing(block);
        let ordinary = (0..ENTRIES as u64)
            .all(|frame| self.frame(first.after(frame)) == Some(FrameType::Ordinary));
        let entered = if ordinary {
            self.tables.import_pool(block, kind)
        } else {
            Err(Reason::WrongFrame)
        };
        entered.map_err(|reason| DescriptionError::Pool { block, reason })
    }

    fn text_blocks(&self) -> impl Iterator<Item = u64> + use<H, C> {
        let pool = self.description.text_pool;
        pool.into_iter().flat_map(|pool| units(pool, BLOCK_SIZE))
    }

    /// Where the linear map's first table stands.
    pub(super) const fn linear_table(&self) -> u64 {
        self.machine.table_block.start() + LINEAR_L1_PAGE * PAGE_SIZE
    }

    /// Makes the pools read-only in the linear map, and the free frames of the tables' pool
    /// zero. The inner domain writes them in its own view.
    pub(super) fn close_pools(&mut self) -> Result<(), HandoverError> {
        let start = self.linear_start()?;
        self.summary.linear_start = start;
        self.tables.import_linear_map(UPPER_RANGE, start);
        for block in units(self.description.table_pool, BLOCK_SIZE).chain(self.text_blocks()) {
            let place = self.linear_block(block, start);
            let place = place.ok_or(HandoverError::PoolNotLinear(block))?;
            // A change of permissions alone, which needs no break-before-make.
            let value = place.descriptor & !Attributes::DIRTY_BIT_MODIFIER.bits()
                | Attributes::READ_ONLY.bits();
            // As a page it must be what the first frame may be shown as.
            let allowed = self.tables.check_page(value | PAGE);
            let target = self.frame(FrameAddress::containing(block));
            allowed
                .map_err(|reason| Fault::Refused { reason, target })
                .map_err(HandoverError::at(place))?;
            let entry = place.entry;
            if C::POOL.is_made() {
                self.hardware.perform(Step::Write { entry, value });
            }
        }
        self.hardware.perform(Step::BarrierStore);
        for frame in frames(self.description.table_pool) {
            if self.frame(frame) == Some(FrameType::PoolFree) {
                self.hardware.perform(Step::ZeroFrame(frame.as_u64()));
            }
            // Those in use as well: a walk with forged, non-cacheable attributes reads memory
            // behind the cache, which may hold what was there before this boot.
            self.hardware.perform(Step::CleanFrame(frame.as_u64()));
        }
        for page in frames(self.machine.table_block) {
            self.hardware.perform(Step::CleanFrame(page.as_u64()));
        }
        Ok(())
    }

    /// The physical address that the linear map begins with, from the first leaf in its slot.
    fn linear_start(&self) -> Result<u64, HandoverError> {
        let mut cursor = Cursor::kernel(self.root);
        while let Some(entry) = cursor.next(self.hardware) {
            if entry.place.va - UPPER_RANGE >= SLOT_SIZE {
                break;
            }
            match entry.decode() {
                Descriptor::Table { next, .. } => cursor.descend(FrameAddress::of(next)),
                Descriptor::Block { output, .. } | Descriptor::Page { output, .. } => {
                    let offset = entry.place.va - UPPER_RANGE;
                    let start = output.as_u64().checked_sub(offset);
                    return start.ok_or_else(|| HandoverError::at(entry.place)(Fault::NotLinear));
                }
                Descriptor::Invalid => {}
            }
        }
        Err(HandoverError::NoLinearMap)
    }

    /// The level 2 entry of the linear map that shows a block as a block.
    fn linear_block(&self, block: u64, start: u64) -> Option<EntryPlace> {
        let offset = block.checked_sub(start).filter(|it| *it < SLOT_SIZE)?;
        let mut table = self.root;
        for level in [Level::Zero, Level::One, Level::Two] {
            let entry = table.entry((offset >> level.shift()) as usize % ENTRIES);
            let descriptor = entry.read(self.hardware).0;
            match Descriptor::decode(descriptor, level) {
                Descriptor::Table { next, .. } => {
                    table = FrameAddress::of(next);
                }
                Descriptor::Block { output, .. } if output.as_u64() == block => {
                    let va = UPPER_RANGE + offset;
                    return (level == Level::Two).then_some(EntryPlace {
                        va,
                        entry: entry.as_u64(),
                        descriptor,
                    });
                }
                _ => return None,
            }
        }
        None
    }
}
