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
use donjon_abi::layout::{BLOCK_SIZE, PAGE_SIZE};

use super::claims::Claim;
use super::phase::{Extension, Phase, Progress};
use super::state::Pools;
use crate::checks::Checks;
use crate::kernel_tables::PoolKind;
use crate::translation::address::ENTRIES;
use crate::translation::frames::FrameType;
use crate::translation::{Hardware, RawDescriptor, Step, bits, flush};
use crate::user_tables::{UserTables, Withdrawal};

/// Frames of tables that one slice may fill with zeros and clean.
const CLEANED_PER_SLICE: usize = 16;
/// Private frames that one slice may fill with zeros: 140 instructions each, or 270 where DC ZVA
/// may not be used. The last slice of a block makes it private as well, some 2,500.
const ZEROED_PER_SLICE: usize = 64;
/// Blocks that one slice makes ordinary again, each some 750 instructions.
const RETURNED_PER_SLICE: usize = 2;

impl<C: Checks> Pools<'_, C> {
    /// Claims a block for private memory. It waits for the first that [`add`](Self::add)
    /// takes, which takes all that wait.
    ///
    /// # Errors
    ///
    /// Those of [`add`](Self::add), and [`Reason::NoRoom`] when too many blocks wait. The
    /// blocks that wait stay so.
    pub fn add_waiting<H: Hardware>(&mut self, hw: &mut H, block: u64) -> Result<(), Reason> {
        if self
            .extension
            .is_some_and(|it| !matches!(it.phase, Phase::Wait))
        {
            return Err(Reason::InUse);
        }
        self.claim(hw, block, PoolKind::Private, Phase::Wait)
    }

    /// Takes a block of ordinary memory into a pool, a slice at a time, and with it the blocks that
    /// wait. `user_tables` are all those that may have its frames.
    ///
    /// # Errors
    ///
    /// A [`Reason`] when the block is not ordinary as a whole, one of the blocks is mapped
    /// elsewhere than in the linear map, there is no room or devices reach it
    /// ([`Reason::Reachable`]), or [`Reason::InUse`] while other
    /// blocks are on their way. A block that could not be claimed changes nothing for those that
    /// wait. After any other error all of them are ordinary again.
    pub fn add<H: Hardware>(
        &mut self,
        hw: &mut H,
        block: u64,
        kind: PoolKind,
        user_tables: Option<&UserTables<'_, C>>,
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
            (Phase::Withdraw(so_far), true) => self.withdraw(hw, extension, so_far, user_tables),
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
        let is_ordinary = self.tables.frames.is_ordinary_block(block) == Some(true);
        if !block.is_multiple_of(BLOCK_SIZE) || !is_ordinary {
            return Err(Reason::WrongFrame);
        }
        let number = match kind {
            PoolKind::Tables => self.tables.blocks.vacant(self.tables.pool.len()),
            PoolKind::Text => self.tables.blocks.vacant_text().map(|_| 0),
            PoolKind::Private => Some(0),
        };
        let number = number.filter(|_| !self.claims.blocks().is_full());
        let number = number.ok_or(Reason::NoRoom)?;
        // A compartment would go on writing to it.
        if C::WITHDRAW.is_made() && self.private.is_shared(block) {
            return Err(Reason::InUse);
        }
        let entry = self
            .tables
            .linear_entry(hw, block)
            .ok_or(Reason::WrongFrame)?;
        // Behind what else can be wrong with a block, so that this is said first.
        self.tables.check_reserve(block)?;
        let attributes = entry.read(hw).with(0, block);
        if kind == PoolKind::Private && *self.linear_block.get_or_insert(attributes) != attributes {
            return Err(Reason::BadAttributes);
        }
        self.tables.blocks.set_tables(number, Some(block));
        self.tables
            .frames
            .set_in_block(block, FrameType::Claimed, 0);
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
        user_tables: Option<&UserTables<'_, C>>,
    ) {
        let user_tables = user_tables.filter(|_| C::WITHDRAW.is_made());
        let next = user_tables
            .and_then(|it| it.withdraw(hw, (&self.tables.frames, self.claims.blocks()), so_far));
        self.proceed(extension, next.map_or(Phase::Search(0), Phase::Withdraw));
    }

    /// No mapping shows the blocks, and the linear map's mappings become read-only, or end.
    pub(super) fn close<H: Hardware>(
        &mut self,
        hw: &mut H,
        extension: Extension,
    ) -> Result<Progress, Reason> {
        // It may have been cleared, or its table unlinked, since the first slice.
        let is_shown = |it: Claim| self.tables.linear_entry(hw, it.block) == Some(it.entry);
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
        self.tables.enter_text(block)?;
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
            self.tables
                .frames
                .set_in_block(block, FrameType::Private, 0);
            self.private.enter(block);
        } else {
            self.tables
                .frames
                .set_in_block(block, FrameType::PoolFree, extension.number);
        }
        if self.claims.get(next / ENTRIES).is_some() {
            return Progress::Again;
        }
        self.end_extension();
        Progress::Done
    }

    pub(super) const fn give_up(&mut self, extension: Extension) -> Progress {
        self.proceed(extension, Phase::Return(0));
        Progress::Again
    }

    fn return_blocks(&mut self, extension: Extension, from: usize) -> Result<Progress, Reason> {
        self.tables.blocks.set_tables(extension.number, None);
        let next = from + RETURNED_PER_SLICE;
        for Claim { block, .. } in self.claims.iter().take(next).skip(from) {
            self.tables
                .frames
                .set_in_block(block, FrameType::Ordinary, 0);
        }
        if self.claims.get(next).is_some() {
            self.proceed(extension, Phase::Return(next));
            return Ok(Progress::Again);
        }
        self.end_extension();
        Err(Reason::InUse)
    }
}
