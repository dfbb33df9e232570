// SPDX-License-Identifier: MIT OR Apache-2.0
//! Imports the state that the hand-over validated.
//!
//! Nothing is written to memory here, and nothing is checked that the hand-over has to check: the
//! contents of the tables it names, and that the linear map shows pools read-only. It ends with an
//! invalidation of everything ([`KernelTables::finish_import`]), so that the rules begin with TLBs
//! that hold nothing but what the tables say. Tables are imported from the root down.

use donjon_abi::call::Reason;
use donjon_abi::layout::BLOCK_SIZE;

use super::blocks::{PoolKind, TextBlock};
use super::pool_frame::PoolFrame;
use super::state::KernelTables;
use crate::checks::Checks;
use crate::translation::address::{ENTRIES, Level, VirtualAddress};
use crate::translation::flush;
use crate::translation::frames::{FrameTable, FrameType};
use crate::translation::{FrameAddress, Hardware};

impl<'a, C: Checks> KernelTables<'a, C> {
    /// The types of all frames, to set those that are neither a pool's nor a table's.
    pub const fn frames_mut(&mut self) -> &mut FrameTable<'a> {
        &mut self.frames
    }

    /// Notes that the linear map shows physical address `physical` at `virtual_address`.
    pub const fn import_linear_map(&mut self, virtual_address: u64, physical: u64) {
        self.linear_offset = Some(virtual_address.wrapping_sub(physical));
    }

    /// Makes a block of ordinary memory a pool. For tables its frames must be zero, or imported
    /// as tables afterwards.
    ///
    /// # Errors
    ///
    /// [`Reason::NoRoom`] when there are too many, [`Reason::BadMachine`] for what is no block of
    /// ordinary memory, [`Reason::Reachable`] for what devices reach.
    pub fn import_pool(&mut self, block: u64, kind: PoolKind) -> Result<(), Reason> {
        let words = self.frames.words(block, ENTRIES);
        let ordinary = words.is_some_and(|mut words| words.all(|word| word == 0));
        if !block.is_multiple_of(BLOCK_SIZE) || !ordinary {
            return Err(Reason::BadMachine);
        }
        self.check_reserve(block)?;
        match kind {
            PoolKind::Tables => self.enter_tables(block),
            PoolKind::Text => self.enter_text(block),
            // The linear map still shows it.
            PoolKind::Private => Err(Reason::BadMachine),
        }
    }

    /// Makes a pool frame the table that the entry at physical address `parent` leads to; its
    /// class follows from the type of the table that the entry is in. `va` is the first address
    /// that it translates, in the outer view.
    ///
    /// # Errors
    ///
    /// [`Reason::BadMachine`] for what is no free pool frame, for an address outside of the upper
    /// range, or when `parent` is in no table that has tables below it.
    pub fn import_table(&mut self, frame: u64, parent: u64, va: u64) -> Result<(), Reason> {
        let above = self.frames.get(parent).and_then(FrameType::as_table);
        let below = above.and_then(Level::next).ok_or(Reason::BadMachine)?;
        let table = FrameAddress::new(frame).ok_or(Reason::BadMachine)?;
        let va = VirtualAddress::new(va).ok_or(Reason::BadMachine)?;
        let index = self.free_frame(table)?;
        if let Some(table) = self.pool_index(parent) {
            self.pool[table].children += 1;
        }
        self.pool[index] = PoolFrame::at(va);
        self.frames.set(frame, FrameType::table(below));
        Ok(())
    }

    /// Ends the hand-over: the TLBs forget what they know.
    pub fn finish_import<H: Hardware>(&mut self, hw: &mut H) {
        flush::everything(hw);
    }

    /// Makes the frames of a zeroed block free frames of a table pool, all at once.
    pub(crate) fn enter_tables(&mut self, block: u64) -> Result<(), Reason> {
        let number = self.blocks.vacant(self.pool.len()).ok_or(Reason::NoRoom)?;
        self.blocks.set_tables(number, Some(block));
        self.frames.set_in_block(block, FrameType::PoolFree, number);
        Ok(())
    }

    /// Makes the frames of a block free frames of a text pool.
    pub(crate) fn enter_text(&mut self, block: u64) -> Result<(), Reason> {
        let room = self.blocks.vacant_text().ok_or(Reason::NoRoom)?;
        *room = Some(TextBlock {
            start: FrameAddress::containing(block),
            free: ENTRIES as u16,
        });
        self.frames.set_in_block(block, FrameType::TextPoolFree, 0);
        Ok(())
    }

    fn free_frame(&self, frame: FrameAddress) -> Result<usize, Reason> {
        let frame = frame.as_u64();
        if self.frames.get(frame) != Some(FrameType::PoolFree) {
            return Err(Reason::BadMachine);
        }
        self.pool_index(frame).ok_or(Reason::BadMachine)
    }
}
