// SPDX-License-Identifier: MIT OR Apache-2.0
//! Blocks of pools that go back to ordinary memory.

use donjon_abi::call::Reason;
use donjon_abi::layout::{BLOCK_SIZE, PAGE_SIZE};

use super::claims::Claim;
use super::phase::{Extension, Phase, Progress};
use super::state::Pools;
use crate::checks::{Checks, Configured};
use crate::translation::address::{ENTRIES, VirtualAddress};
use crate::translation::frames::{FrameType, pool_block_of};
use crate::translation::{EntryAddress, FrameAddress, Hardware, RawDescriptor, Step, bits, flush};

/// Frames that one slice cleans.
const CLEANED_PER_SLICE: usize = 32;

impl<C: Checks> Pools<'_, C> {
    /// Gives a block without a use back to ordinary memory, private memory a slice at a time.
    ///
    /// # Errors
    ///
    /// [`Reason::InUse`] when not all of it is free, [`Reason::WrongFrame`] when it is no block of
    /// a pool or the linear map no longer shows it. [`Reason::InUse`] also for private memory while
    /// other blocks are on their way.
    pub fn remove<H: Hardware>(&mut self, hw: &mut H, block: u64) -> Result<Progress, Reason> {
        let first = self.tables.frames.word(block);
        let words = self.tables.frames.words(block, ENTRIES);
        let mut words = words.ok_or(Reason::WrongFrame)?;
        if !block.is_multiple_of(BLOCK_SIZE) {
            return Err(Reason::WrongFrame);
        }
        if self.tables.frames.get(block) == Some(FrameType::Private) {
            return self.begin_removal(hw, block);
        }
        if let Some(extension) = self.extension
            && let Phase::Clean(from) = extension.phase
            && self.claims.is_last(block)
        {
            return self.clean(hw, extension, from);
        }
        let free = matches!(
            self.tables.frames.get(block),
            Some(FrameType::PoolFree | FrameType::TextPoolFree)
        );
        if !free || words.any(|word| word != first) {
            return Err(Reason::InUse);
        }
        let entry = self
            .tables
            .linear_entry(hw, block)
            .ok_or(Reason::WrongFrame)?;
        // Walks may still take the frames for the tables that they were, and text may still be
        // fetched: that ends before the first store of the outer domain can hit them.
        flush::everything(hw);
        self.tables
            .frames
            .set_in_block(block, FrameType::Ordinary, 0);
        match self.tables.blocks.text_of(FrameAddress::containing(block)) {
            Some(text) => *text = None,
            None => self.tables.blocks.set_tables(pool_block_of(first), None),
        }
        let leaf = entry.read(hw);
        entry.write(hw, leaf.with(bits::DIRTY_BIT_MODIFIER, bits::READ_ONLY));
        // A store that hits a stale read-only entry would be a fault that Linux does not expect.
        let shown = self.tables.linear_address(block);
        flush::block(hw, shown.unwrap_or(VirtualAddress::NONE));
        Ok(Progress::Done)
    }

    /// Where the linear map is to show a block of private memory again: nothing stands there.
    fn vacant_linear_entry<H: Hardware>(&self, hw: &H, block: u64) -> Option<EntryAddress> {
        let entry = self.tables.linear_place(hw, block)?;
        (entry.read(hw) == RawDescriptor::INVALID).then_some(entry)
    }

    /// Claims a block of private memory, whose frames were wiped when they became free.
    fn begin_removal<H: Hardware>(&mut self, hw: &H, block: u64) -> Result<Progress, Reason> {
        let is_free = self.private.is_free_block(block) || !Configured::REMOVAL.is_made();
        if self.extension.is_some() || !is_free {
            return Err(Reason::InUse);
        }
        let entry = self.vacant_linear_entry(hw, block);
        let entry = entry.ok_or(Reason::WrongFrame)?;
        self.private.leave(block);
        self.tables
            .frames
            .set_in_block(block, FrameType::Claimed, 0);
        self.claims.push(Claim { block, entry });
        self.extension = Some(Extension::REMOVAL);
        Ok(Progress::Again)
    }

    /// Cleans what is claimed. The zeros that wiped it may stand in caches alone: a mapping that
    /// does not look into caches, or a device, would find in memory what was there before.
    fn clean<H: Hardware>(
        &mut self,
        hw: &mut H,
        extension: Extension,
        from: usize,
    ) -> Result<Progress, Reason> {
        let Some(Claim { block, entry }) = self.claims.get(0) else {
            return Err(Reason::WrongFrame);
        };
        if from < ENTRIES {
            for index in from..from + CLEANED_PER_SLICE {
                hw.perform(Step::CleanFrame(block + index as u64 * PAGE_SIZE));
            }
            self.proceed(extension, Phase::Clean(from + CLEANED_PER_SLICE));
            return Ok(Progress::Again);
        }
        self.end_extension();
        // Its table may have been unlinked since the first slice.
        let leaf = self
            .linear_block
            .filter(|_| self.vacant_linear_entry(hw, block) == Some(entry));
        let Some(leaf) = leaf else {
            self.tables
                .frames
                .set_in_block(block, FrameType::Private, 0);
            self.private.enter(block);
            return Err(Reason::WrongFrame);
        };
        flush::everything(hw);
        self.tables
            .frames
            .set_in_block(block, FrameType::Ordinary, 0);
        entry.write(hw, leaf.with(block, 0));
        hw.perform(Step::Barrier);
        Ok(Progress::Done)
    }
}
