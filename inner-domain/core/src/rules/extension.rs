// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pool extension, by whole blocks.
//!
//! A block that is to hold tables or text must not be mapped anywhere but in the linear map,
//! where its one block becomes read-only, and a block of private memory not even there. What Linux
//! says about that is not believed: its frames are claimed first, so that no new mapping of them is
//! made, then they are withdrawn from the shadows, then every other leaf table is searched. That
//! takes long, so it is done in slices of one call each. Blocks of private memory may wait for
//! others, and one search looks for all of them.

use donjon_abi::call::Reason;
use donjon_abi::layout::{BLOCK_SIZE, PAGE_SIZE, ROOT_HALF};

use super::checks::Checks;
use super::claims::Claim;
use super::pools::{PoolKind, TextBlock};
use super::step::{Hardware, Step};
use super::types::{EntryAddress, FrameAddress, RawDescriptor};
use super::{Rules, bits, flush, leaf};
use crate::address::{ENTRIES, Level, VirtualAddress};
use crate::frames::FrameType;
use crate::shadow::{Shadows, Withdrawal};

/// Whether an extended pool is ready, or a block is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Not yet: the same call again.
    Again,
    /// The pool is ready, or the block is gone.
    Done,
}

/// Entries after which a slice ends, of at most five instructions each: 2,560 instructions. The
/// table that it ends in may take 11,800 more, where each entry needs a closer look, and the
/// entries of the linear map that show 32 claimed blocks 4,700, for the search of the list.
/// Together they are 19,100.
const ENTRIES_PER_SLICE: usize = ENTRIES;
/// What looking at a frame that is not skipped and no leaf table costs, in entries: 70
/// instructions.
const FRAME_COST: usize = 14;
/// How many frames of a pool without leaf tables are skipped for what an entry costs: 20
/// instructions for eight.
const SKIPPED_FOR_ENTRY: usize = 2;
/// What a number without a block costs, in entries.
const VACANT_COST: usize = 4;
/// What a closer look at an entry costs, in entries.
const CLOSE_LOOK_COST: usize = 4;
/// Frames of tables that one slice may fill with zeros and clean.
const CLEANED_PER_SLICE: usize = 16;
/// Private frames that one slice may fill with zeros: 140 instructions each, or 270 where DC ZVA
/// may not be used. The last slice of a block makes it private as well, some 2,500.
const ZEROED_PER_SLICE: usize = 64;
/// Blocks that one slice makes ordinary again, each some 750 instructions.
const RETURNED_PER_SLICE: usize = 2;

/// The claimed blocks on their way.
#[derive(Clone, Copy)]
pub(super) struct Extension {
    kind: PoolKind,
    /// Number of a block of tables, which is its own from the beginning; 0 for other pools.
    number: u8,
    pub(super) phase: Phase,
}

#[derive(Clone, Copy)]
pub(super) enum Phase {
    /// Waits for blocks that are to be searched for together with these.
    Wait,
    /// Drops the shadows of the blocks' frames.
    Withdraw(Withdrawal),
    /// Searches the tables, from the pool frame with this number on.
    Search(usize),
    /// Fills the blocks with zeros, from this frame of all of them on.
    Zero(usize),
    /// A mapping was found: makes the blocks ordinary again, from this one of them on.
    Return(usize),
    /// Cleans a block that goes back to the outer domain, from this frame on.
    Clean(usize),
}

impl Extension {
    /// The state in which a block of private memory begins to go back.
    pub(super) const REMOVAL: Self = Self {
        kind: PoolKind::Private,
        number: 0,
        phase: Phase::Clean(0),
    };
}

impl<C: Checks> Rules<'_, C> {
    /// Claims a block for private memory. It waits for the first that [`pool_add`](Self::pool_add)
    /// takes, which takes all that wait.
    ///
    /// # Errors
    ///
    /// Those of [`pool_add`](Self::pool_add), and [`Reason::NoRoom`] when too many blocks wait. The
    /// blocks that wait stay so.
    pub fn pool_await<H: Hardware>(&mut self, hw: &mut H, block: u64) -> Result<(), Reason> {
        if self
            .extension
            .is_some_and(|it| !matches!(it.phase, Phase::Wait))
        {
            return Err(Reason::InUse);
        }
        self.claim(hw, block, PoolKind::Private, Phase::Wait)
    }

    /// Takes a block of ordinary memory into a pool, a slice at a time, and with it the blocks that
    /// wait. `shadows` are all those that may have its frames.
    ///
    /// # Errors
    ///
    /// A [`Reason`] when the block is not ordinary as a whole, one of the blocks is mapped
    /// elsewhere than in the linear map, there is no room or devices reach it
    /// ([`Reason::Reachable`]), or [`Reason::InUse`] while other
    /// blocks are on their way. A block that could not be claimed changes nothing for those that
    /// wait. After any other error all of them are ordinary again.
    pub fn pool_add<H: Hardware>(
        &mut self,
        hw: &mut H,
        block: u64,
        kind: PoolKind,
        shadows: Option<&Shadows<'_, C>>,
    ) -> Result<Progress, Reason> {
        let begun = Phase::Withdraw(Withdrawal::default());
        let Some(extension) = self.extension else {
            self.claim(hw, block, kind, begun)?;
            return Ok(Progress::Again);
        };
        if extension.kind != kind {
            return Err(Reason::InUse);
        }
        match (extension.phase, self.claims.is_last(block)) {
            (Phase::Wait, false) => self.claim(hw, block, kind, begun)?,
            (Phase::Clean(_), _) | (_, false) => return Err(Reason::InUse),
            (Phase::Wait, true) => self.proceed(extension, begun),
            (Phase::Withdraw(so_far), true) => self.withdraw(hw, extension, so_far, shadows),
            (Phase::Search(from), true) => return self.search(hw, extension, from),
            (Phase::Zero(from), true) => return Ok(self.zero(hw, extension, from)),
            (Phase::Return(from), true) => return self.return_blocks(extension, from),
        }
        Ok(Progress::Again)
    }

    /// Claims a block; `phase` comes next. Nothing has changed after an error.
    fn claim<H: Hardware>(
        &mut self,
        hw: &mut H,
        block: u64,
        kind: PoolKind,
        phase: Phase,
    ) -> Result<(), Reason> {
        let is_ordinary = self.frames.is_ordinary_block(block) == Some(true);
        if !block.is_multiple_of(BLOCK_SIZE) || !is_ordinary {
            return Err(Reason::WrongFrame);
        }
        let number = match kind {
            PoolKind::Tables => self.blocks.vacant(self.pool.len()),
            PoolKind::Text => self.blocks.vacant_text().map(|_| 0),
            PoolKind::Private => Some(0),
        };
        let number = number.filter(|_| !self.claims.blocks().is_full());
        let number = number.ok_or(Reason::NoRoom)?;
        // A compartment would go on writing to it.
        if C::WITHDRAW.is_made() && self.private.is_shared(block) {
            return Err(Reason::InUse);
        }
        let entry = self.linear_entry(hw, block).ok_or(Reason::WrongFrame)?;
        // Behind what else can be wrong with a block, so that this is said first.
        self.check_reserve(block)?;
        let attributes = entry.read(hw).with(0, block);
        if kind == PoolKind::Private && *self.linear_block.get_or_insert(attributes) != attributes {
            return Err(Reason::BadAttributes);
        }
        self.blocks.set_tables(number, Some(block));
        self.frames.set_in_block(block, FrameType::Claimed, 0);
        self.claims.push(Claim { block, entry });
        // Calls on other CPUs that fill shadows see it from here on, or are waited for.
        hw.perform(Step::Barrier);
        self.extension = Some(Extension {
            kind,
            number,
            phase,
        });
        Ok(())
    }

    fn withdraw<H: Hardware>(
        &mut self,
        hw: &mut H,
        extension: Extension,
        so_far: Withdrawal,
        shadows: Option<&Shadows<'_, C>>,
    ) {
        let shadows = shadows.filter(|_| C::WITHDRAW.is_made());
        let next =
            shadows.and_then(|it| it.withdraw(hw, (&self.frames, self.claims.blocks()), so_far));
        self.proceed(extension, next.map_or(Phase::Search(0), Phase::Withdraw));
    }

    /// Looks for mappings of the blocks. Frames that were searched stay clean: no call maps a
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
                cost += VACANT_COST;
                continue;
            };
            let left_in_block = ENTRIES - index % ENTRIES;
            let skipped = self
                .frames
                .without_leaf_table(table.as_u64(), left_in_block);
            if skipped != 0 {
                cost += skipped / SKIPPED_FOR_ENTRY;
                index += skipped;
                continue;
            }
            let level = match self.frames.get(table.as_u64()) {
                Some(FrameType::KernelTable3) => Some(Level::Three),
                Some(FrameType::KernelTable2) => Some(Level::Two),
                _ => None,
            };
            if let Some(level) = level {
                match self.inspect(hw, table, level) {
                    Some(close) => cost += ENTRIES + close * CLOSE_LOOK_COST,
                    None => return Ok(self.give_up(extension)),
                }
            }
            cost += FRAME_COST;
            index += 1;
        }
        if index != from {
            // What follows takes a slice of its own.
            self.proceed(extension, Phase::Search(index));
            return Ok(Progress::Again);
        }
        self.close(hw, extension)
    }

    /// Looks for mappings of claimed blocks in a table. The entries of the linear map that show
    /// them do not count. None if there is a mapping; otherwise how many entries needed a closer
    /// look. Four entries at a time: one by one takes three times as many instructions.
    fn inspect<H: Hardware>(&self, hw: &H, table: FrameAddress, level: Level) -> Option<usize> {
        let (value, mask) = self.claims.blocks().cover();
        let mask = mask & bits::OUTPUT_ADDRESS;
        let may_show = |descriptor: u64| descriptor & mask == value;
        let shows = |entry: u64, descriptor: u64| {
            let output = descriptor & bits::OUTPUT_ADDRESS;
            may_show(descriptor)
                && bits::is_valid(descriptor)
                && (level == Level::Three || bits::is_block(descriptor))
                // Before the list, whose search takes longer: all claimed frames are in it.
                && self.frames.get(output) == Some(FrameType::Claimed)
                && self
                    .claims
                    .find(output)
                    .is_some_and(|it| EntryAddress::new(entry) != Some(it.entry))
        };
        let end = table.as_u64() + PAGE_SIZE;
        let mut entry = table.as_u64();
        let mut close = 0;
        while entry < end {
            let [a, b] = hw.read_two(entry);
            let [c, d] = hw.read_two(entry + 16);
            // Nearly all of them end here.
            if may_show(a) | may_show(b) | may_show(c) | may_show(d) {
                if shows(entry, a)
                    || shows(entry + 8, b)
                    || shows(entry + 16, c)
                    || shows(entry + 24, d)
                {
                    return None;
                }
                close += 4;
            }
            entry += 32;
        }
        Some(close)
    }

    /// No mapping shows the blocks, and the linear map's mappings become read-only, or end.
    fn close<H: Hardware>(&mut self, hw: &mut H, extension: Extension) -> Result<Progress, Reason> {
        // It may have been cleared, or its table unlinked, since the first slice.
        let is_shown = |it: Claim| self.linear_entry(hw, it.block) == Some(it.entry);
        if !self.claims.iter().all(is_shown) {
            return Ok(self.give_up(extension));
        }
        if C::POOL.is_made() {
            for Claim { entry, .. } in self.claims.iter() {
                let leaf = entry.read(hw);
                entry.write(
                    hw,
                    match extension.kind {
                        PoolKind::Private => RawDescriptor::INVALID,
                        _ => leaf.with(bits::READ_ONLY, bits::DIRTY_BIT_MODIFIER),
                    },
                );
            }
        }
        if C::FLUSH.is_made() {
            // Also drops what is left of mappings that were cleared long ago.
            flush::everything(hw);
        }
        if extension.kind != PoolKind::Text {
            self.proceed(extension, Phase::Zero(0));
            return Ok(Progress::Again);
        }
        let block = self.claims.get(0).ok_or(Reason::WrongFrame)?.block;
        self.end_extension();
        self.enter_text(block)?;
        Ok(Progress::Done)
    }

    /// Fills frames with zeros, and cleans those of tables: a walk may not look into caches.
    /// Private memory has no other mapping, and is cleaned when it goes back. No line of it is
    /// dropped late, because Linux has no DC IVAC.
    fn zero<H: Hardware>(&mut self, hw: &mut H, extension: Extension, from: usize) -> Progress {
        let is_private = extension.kind == PoolKind::Private;
        let Some(Claim { block, .. }) = self.claims.get(from / ENTRIES) else {
            self.end_extension();
            return Progress::Done;
        };
        let count = if is_private {
            ZEROED_PER_SLICE
        } else {
            CLEANED_PER_SLICE
        };
        let first = block + (from % ENTRIES) as u64 * PAGE_SIZE;
        hw.zero_frames(first, count as u64);
        if !is_private {
            for index in 0..count as u64 {
                hw.perform(Step::CleanFrame(first + index * PAGE_SIZE));
            }
        }
        hw.perform(Step::BarrierStore);
        let next = from + count;
        self.proceed(extension, Phase::Zero(next));
        if !next.is_multiple_of(ENTRIES) {
            return Progress::Again;
        }
        if is_private {
            self.frames.set_in_block(block, FrameType::Private, 0);
            self.private.enter(block);
        } else {
            self.frames
                .set_in_block(block, FrameType::PoolFree, extension.number);
        }
        if self.claims.get(next / ENTRIES).is_some() {
            return Progress::Again;
        }
        self.end_extension();
        Progress::Done
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

    const fn give_up(&mut self, extension: Extension) -> Progress {
        self.proceed(extension, Phase::Return(0));
        Progress::Again
    }

    fn return_blocks(&mut self, extension: Extension, from: usize) -> Result<Progress, Reason> {
        self.blocks.set_tables(extension.number, None);
        let next = from + RETURNED_PER_SLICE;
        for Claim { block, .. } in self.claims.iter().take(next).skip(from) {
            self.frames.set_in_block(block, FrameType::Ordinary, 0);
        }
        if self.claims.get(next).is_some() {
            self.proceed(extension, Phase::Return(next));
            return Ok(Progress::Again);
        }
        self.end_extension();
        Err(Reason::InUse)
    }

    pub(super) const fn proceed(&mut self, extension: Extension, phase: Phase) {
        self.extension = Some(Extension { phase, ..extension });
    }

    pub(super) fn end_extension(&mut self) {
        self.extension = None;
        self.claims.clear();
    }

    /// Where the linear map shows a physical address.
    pub(super) fn linear_address(&self, address: u64) -> Option<u64> {
        Some(address.wrapping_add(self.linear_offset?))
    }

    /// The entry of the linear map where a block is shown, or was.
    pub(super) fn linear_place<H: Hardware>(&self, hw: &H, block: u64) -> Option<EntryAddress> {
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
    pub(super) fn linear_entry<H: Hardware>(&self, hw: &H, block: u64) -> Option<EntryAddress> {
        let leaf = self.kernel_leaf(hw, self.linear_address(block)?)?;
        // Tables and text have one set of memory attributes, which the rest of memory need not.
        let entry = EntryAddress::new(leaf.entry)?;
        let alike = leaf::is_write_back(entry.read(hw));
        (leaf.level == Level::Two && leaf.page == block && alike).then_some(entry)
    }
}
