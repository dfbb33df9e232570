// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pool extension and shrinking, by whole blocks.
//!
//! A block that is to hold tables or text must not be mapped anywhere but in the linear map,
//! where its one block becomes read-only, and a block of private memory not even there. What Linux
//! says about that is not believed: its frames are claimed first, so that no new mapping of them is
//! made, then they are withdrawn from the shadows, then every other leaf table is searched. That
//! takes long, so it is done in slices of one call each.

use donjon_abi::call::Reason;
use donjon_abi::layout::{BLOCK_SIZE, PAGE_SIZE, ROOT_HALF};

use super::checks::Checks;
use super::pools::{PoolKind, TextBlock};
use super::step::{Hardware, Step};
use super::types::{EntryAddress, FrameAddress, RawDescriptor};
use super::{Rules, bits, flush, leaf};
use crate::address::{ENTRIES, Level, VirtualAddress};
use crate::frames::FrameType;
use crate::placement::Range;
use crate::shadow::{Shadows, Withdrawal};

/// Whether an extended pool is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Not yet: the same call again.
    Again,
    /// It is.
    Done,
}

/// Entries after which a slice ends. With the table that it ends in it looks at 2,560 at most, five
/// instructions each; a refusal takes some 2,500 more.
const ENTRIES_PER_SLICE: usize = 4 * ENTRIES;
/// What looking at a frame that is no leaf table costs, in entries.
const FRAME_COST: usize = 3;
/// Frames that one slice may fill with zeros and clean.
const ZEROED_PER_SLICE: u64 = 16;

/// A block on its way into a pool.
#[derive(Clone, Copy)]
pub(super) struct Extension {
    block: u64,
    kind: PoolKind,
    /// Of a block of tables: its number, which is its own from the beginning.
    number: u8,
    /// The entry of the linear map that shows it.
    entry: EntryAddress,
    phase: Phase,
}

#[derive(Clone, Copy)]
enum Phase {
    /// Drops the shadows of its frames.
    Withdraw(Withdrawal),
    /// Searches the tables, from the pool frame with this number on.
    Search(usize),
    /// Fills the block with zeros, from this frame on.
    Zero(u64),
}

impl<C: Checks> Rules<'_, C> {
    /// Takes a block of ordinary memory into a pool, a slice at a time. `shadows` are all those that
    /// may have its frames.
    ///
    /// # Errors
    ///
    /// A [`Reason`] when the block is not ordinary as a whole, is mapped elsewhere than in the
    /// linear map, or there is no room, or [`Reason::InUse`] while another block is on its way.
    /// The block is ordinary again then.
    pub fn pool_add<H: Hardware>(
        &mut self,
        hw: &mut H,
        block: u64,
        kind: PoolKind,
        shadows: Option<&Shadows<'_, C>>,
    ) -> Result<Progress, Reason> {
        match self.extension {
            None => self.claim(hw, block, kind),
            Some(extension) if extension.block != block || extension.kind != kind => {
                Err(Reason::InUse)
            }
            Some(extension) => match extension.phase {
                Phase::Withdraw(so_far) => Ok(self.withdraw(hw, extension, so_far, shadows)),
                Phase::Search(from) => self.search(hw, extension, from),
                Phase::Zero(from) => Ok(self.zero(hw, extension, from)),
            },
        }
    }

    /// Gives a block without a use back to ordinary memory.
    ///
    /// # Errors
    ///
    /// [`Reason::InUse`] when not all of it is free, [`Reason::WrongFrame`] when it is no block
    /// of a pool or the linear map no longer shows it.
    pub fn pool_remove<H: Hardware>(&mut self, hw: &mut H, block: u64) -> Result<(), Reason> {
        let first = self.frames.word(block);
        let words = self.frames.words(block, ENTRIES);
        let mut words = words.ok_or(Reason::WrongFrame)?;
        if !block.is_multiple_of(BLOCK_SIZE) {
            return Err(Reason::WrongFrame);
        }
        if self.frames.get(block) == Some(FrameType::Private) {
            return self.remove_private(hw, block);
        }
        let free = matches!(
            self.frames.get(block),
            Some(FrameType::PoolFree | FrameType::TextPoolFree)
        );
        if !free || words.any(|word| word != first) {
            return Err(Reason::InUse);
        }
        let entry = self.linear_entry(hw, block).ok_or(Reason::WrongFrame)?;
        // Walks may still take the frames for the tables that they were, and text may still be
        // fetched: that ends before the first store of the outer domain can hit them.
        flush::everything(hw);
        self.frames.set_in_block(block, FrameType::Ordinary, 0);
        match self.blocks.text_of(block) {
            Some(text) => *text = None,
            None => self
                .blocks
                .set_tables(crate::frames::pool_block_of(first), None),
        }
        let leaf = entry.read(hw);
        entry.write(hw, leaf.with(bits::DIRTY_BIT_MODIFIER, bits::READ_ONLY));
        // A store that hits a stale read-only entry would be a fault that Linux does not expect.
        flush::block(hw, self.linear_address(block).unwrap_or(0));
        Ok(())
    }

    /// Gives a block of private memory back, whose frames were wiped when they became free.
    fn remove_private<H: Hardware>(&mut self, hw: &mut H, block: u64) -> Result<(), Reason> {
        if !self.private.is_free_block(block) {
            return Err(Reason::InUse);
        }
        let entry = self.linear_place(hw, block).ok_or(Reason::WrongFrame)?;
        let leaf = self.linear_block.ok_or(Reason::WrongFrame)?;
        if entry.read(hw) != RawDescriptor::INVALID {
            return Err(Reason::WrongFrame);
        }
        self.private.leave(block);
        flush::everything(hw);
        self.frames.set_in_block(block, FrameType::Ordinary, 0);
        entry.write(hw, leaf.with(block, 0));
        hw.perform(Step::Barrier);
        Ok(())
    }

    fn claim<H: Hardware>(
        &mut self,
        hw: &mut H,
        block: u64,
        kind: PoolKind,
    ) -> Result<Progress, Reason> {
        let words = self.frames.words(block, ENTRIES);
        let ordinary = words.is_some_and(|mut words| words.all(|word| word == 0));
        if !block.is_multiple_of(BLOCK_SIZE) || !ordinary {
            return Err(Reason::WrongFrame);
        }
        let number = match kind {
            PoolKind::Tables => self.blocks.vacant(self.pool.len()),
            PoolKind::Text => self.blocks.vacant_text().map(|_| 0),
            PoolKind::Private => Some(0),
        };
        let number = number.ok_or(Reason::NoRoom)?;
        // A compartment would go on writing to it.
        if C::WITHDRAW && self.private.is_shared(block) {
            return Err(Reason::InUse);
        }
        let entry = self.linear_entry(hw, block).ok_or(Reason::WrongFrame)?;
        let attributes = entry.read(hw).with(0, block);
        if kind == PoolKind::Private && *self.linear_block.get_or_insert(attributes) != attributes {
            return Err(Reason::BadAttributes);
        }
        self.blocks.set_tables(number, Some(block));
        self.frames.set_in_block(block, FrameType::Claimed, 0);
        // Calls on other CPUs that fill shadows see it from here on, or are waited for.
        hw.perform(Step::Barrier);
        self.extension = Some(Extension {
            block,
            kind,
            number,
            entry,
            phase: Phase::Withdraw(Withdrawal::default()),
        });
        Ok(Progress::Again)
    }

    fn withdraw<H: Hardware>(
        &mut self,
        hw: &mut H,
        extension: Extension,
        so_far: Withdrawal,
        shadows: Option<&Shadows<'_, C>>,
    ) -> Progress {
        let block = Range::with_size(extension.block, BLOCK_SIZE);
        let next = block
            .zip(shadows.filter(|_| C::WITHDRAW))
            .and_then(|(block, shadows)| shadows.withdraw(hw, block, so_far));
        self.proceed(extension, next.map_or(Phase::Search(0), Phase::Withdraw));
        Progress::Again
    }

    /// Looks for mappings of the block. Frames that were searched stay clean: no call maps a
    /// claimed frame.
    fn search<H: Hardware>(
        &mut self,
        hw: &mut H,
        extension: Extension,
        from: usize,
    ) -> Result<Progress, Reason> {
        let mut index = from;
        let mut cost = 0;
        while index < self.pool.len() {
            if cost >= ENTRIES_PER_SLICE {
                self.proceed(extension, Phase::Search(index));
                return Ok(Progress::Again);
            }
            let Some(table) = self.blocks.frame(index) else {
                index = (index / ENTRIES + 1) * ENTRIES;
                continue;
            };
            let level = match self.frames.get(table.as_u64()) {
                Some(FrameType::KernelTable3) => Some(Level::Three),
                Some(FrameType::KernelTable2) => Some(Level::Two),
                _ => None,
            };
            if let Some(level) = level {
                if shows(hw, table, level, extension) {
                    return self.give_up(extension);
                }
                cost += ENTRIES;
            }
            cost += FRAME_COST;
            index += 1;
        }
        self.close(hw, extension)
    }

    /// No mapping shows the block, and the linear map's mapping becomes read-only.
    fn close<H: Hardware>(&mut self, hw: &mut H, extension: Extension) -> Result<Progress, Reason> {
        let Extension {
            block, kind, entry, ..
        } = extension;
        // It may have been cleared, or its table unlinked, since the first slice.
        if self.linear_entry(hw, block) != Some(entry) {
            return self.give_up(extension);
        }
        if C::POOL {
            let leaf = entry.read(hw);
            entry.write(
                hw,
                match kind {
                    PoolKind::Private => RawDescriptor::INVALID,
                    _ => leaf.with(bits::READ_ONLY, bits::DIRTY_BIT_MODIFIER),
                },
            );
        }
        if C::FLUSH {
            // Also drops what is left of mappings that were cleared long ago.
            flush::everything(hw);
        }
        match kind {
            PoolKind::Tables | PoolKind::Private => {
                self.proceed(extension, Phase::Zero(block));
                Ok(Progress::Again)
            }
            PoolKind::Text => {
                self.extension = None;
                self.enter_text(block)?;
                Ok(Progress::Done)
            }
        }
    }

    fn zero<H: Hardware>(&mut self, hw: &mut H, extension: Extension, from: u64) -> Progress {
        let end = extension.block + BLOCK_SIZE;
        if from == end {
            self.extension = None;
            let (block, number) = (extension.block, extension.number);
            if extension.kind == PoolKind::Private {
                self.frames.set_in_block(block, FrameType::Private, 0);
                self.private.enter(block);
            } else {
                self.frames.set_in_block(block, FrameType::PoolFree, number);
            }
            return Progress::Done;
        }
        let until = end.min(from + ZEROED_PER_SLICE * PAGE_SIZE);
        let mut frame = from;
        while frame < until {
            hw.perform(Step::ZeroFrame(frame));
            hw.perform(Step::CleanFrame(frame));
            frame += PAGE_SIZE;
        }
        hw.perform(Step::BarrierStore);
        self.proceed(extension, Phase::Zero(until));
        Progress::Again
    }

    /// Makes the frames of a zeroed block free frames of a table pool, all at once.
    pub(super) fn enter_tables(&mut self, block: u64) -> Result<(), Reason> {
        let number = self.blocks.vacant(self.pool.len()).ok_or(Reason::NoRoom)?;
        self.blocks.set_tables(number, Some(block));
        self.frames.set_in_block(block, FrameType::PoolFree, number);
        Ok(())
    }

    /// Makes the frames of a block free frames of a text pool.
    pub(super) fn enter_text(&mut self, block: u64) -> Result<(), Reason> {
        let room = self.blocks.vacant_text().ok_or(Reason::NoRoom)?;
        *room = Some(TextBlock {
            start: block,
            free: ENTRIES as u16,
        });
        self.frames.set_in_block(block, FrameType::TextPoolFree, 0);
        Ok(())
    }

    fn give_up(&mut self, extension: Extension) -> Result<Progress, Reason> {
        self.blocks.set_tables(extension.number, None);
        self.frames
            .set_in_block(extension.block, FrameType::Ordinary, 0);
        self.extension = None;
        Err(Reason::InUse)
    }

    const fn proceed(&mut self, extension: Extension, phase: Phase) {
        self.extension = Some(Extension { phase, ..extension });
    }

    /// Where the linear map shows a physical address.
    fn linear_address(&self, address: u64) -> Option<u64> {
        Some(address.wrapping_add(self.linear_offset?))
    }

    /// The entry of the linear map where a block is shown, or was.
    fn linear_place<H: Hardware>(&self, hw: &H, block: u64) -> Option<EntryAddress> {
        let address = VirtualAddress::new(self.linear_address(block)?)?;
        let mut table = self.root;
        for level in [Level::Zero, Level::One] {
            let index = match level {
                // As the outer view indexes the root.
                Level::Zero => address.index(level) % ROOT_HALF,
                _ => address.index(level),
            };
            let descriptor = RawDescriptor(hw.read(table + index as u64 * 8));
            if !descriptor.is_valid() || !descriptor.is_table() {
                return None;
            }
            table = descriptor.output().as_u64();
        }
        EntryAddress::new(table + address.index(Level::Two) as u64 * 8)
    }

    /// The entry of the linear map that shows a block as a block of ordinary memory.
    fn linear_entry<H: Hardware>(&self, hw: &H, block: u64) -> Option<EntryAddress> {
        let leaf = self.kernel_leaf(hw, self.linear_address(block)?)?;
        // Tables and text have one set of memory attributes, which the rest of memory need not.
        let entry = EntryAddress::new(leaf.entry)?;
        let alike = leaf::is_write_back(entry.read(hw));
        (leaf.level == Level::Two && leaf.page == block && alike).then_some(entry)
    }
}

/// Whether a table maps something of the extended block, the linear map's entry aside. Two entries
/// at a time: one by one takes twice as many instructions.
fn shows<H: Hardware>(hw: &H, table: FrameAddress, level: Level, extension: Extension) -> bool {
    const BLOCK: u64 = bits::OUTPUT_ADDRESS & !(BLOCK_SIZE - 1);
    let is_of_block = |descriptor: u64| descriptor & BLOCK == extension.block;
    let shows = |entry: u64, descriptor: u64| {
        is_of_block(descriptor)
            && bits::is_valid(descriptor)
            && (level == Level::Three || bits::is_block(descriptor))
            && EntryAddress::new(entry) != Some(extension.entry)
    };
    let end = table.as_u64() + PAGE_SIZE;
    let mut entry = table.as_u64();
    while entry < end {
        let [low, high] = hw.read_two(entry);
        // Nearly all of them end here.
        let found = is_of_block(low) | is_of_block(high);
        if found && (shows(entry, low) || shows(entry + 8, high)) {
            return true;
        }
        entry += 16;
    }
    false
}
