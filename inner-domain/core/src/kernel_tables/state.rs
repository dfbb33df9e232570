// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is known about the kernel's tables, the frames of pools and the linear map.

use core::marker::PhantomData;

use donjon_abi::call::Reason;
use donjon_abi::layout::{BLOCK_SIZE, PAGE_SIZE};

use super::blocks::{Blocks, MAX_TABLE_BLOCKS};
use super::pool_frame::PoolFrame;
use crate::checks::{Checks, Configured};
use crate::devices::{DeviceList, WritableRegister};
use crate::range::Range;
use crate::translation::FrameAddress;
use crate::translation::address::{ENTRIES, VirtualAddress};
use crate::translation::frames::{FrameTable, pool_block_of};

/// What the items of one list may cost together, in units of 300 instructions.
const LIST_BUDGET: u32 = 32;
/// What it costs to read all entries of a table or the types of all frames of a block.
pub(super) const COST_OF_TABLE: u32 = 16;

/// The kernel's tables and all that decides about them.
pub struct KernelTables<'a, C: Checks = Configured> {
    pub(crate) frames: FrameTable<'a>,
    /// Metadata of pool frames, 512 for each block that the table pools may have.
    pub(crate) pool: &'a mut [PoolFrame],
    pub(super) devices: DeviceList,
    /// What no device reaches, and pools come from; none where no device is told from others.
    reserve: Option<Range>,
    /// The kernel's root.
    pub(super) root: FrameAddress,
    pub(crate) blocks: Blocks,
    /// What to add to a physical address to get its address in the linear map.
    pub(super) linear_offset: Option<u64>,
    /// What the items of a list have cost so far.
    cost: u32,
    /// Virtual address of the page that VBAR_EL1 is in, from the hand-over on.
    pub(super) vectors: Option<VirtualAddress>,
    checks: PhantomData<C>,
}

impl<'a, C: Checks> KernelTables<'a, C> {
    /// The kernel's tables below the root at physical address `root`, none of which is known yet.
    /// The types of all frames in `frames` but those of pools and tables are right. `pool` has 512
    /// entries for each block that the table pools may have, at most [`MAX_TABLE_BLOCKS`] times.
    pub fn new(
        frames: FrameTable<'a>,
        pool: &'a mut [PoolFrame],
        devices: DeviceList,
        root: u64,
    ) -> Self {
        // More would have no number.
        let frames_of_pools = pool.len().min(MAX_TABLE_BLOCKS * ENTRIES);
        Self {
            frames,
            pool: &mut pool[..frames_of_pools],
            devices,
            reserve: None,
            root: FrameAddress::containing(root),
            blocks: Blocks::NONE,
            linear_offset: None,
            cost: 0,
            vectors: None,
            checks: PhantomData,
        }
    }

    /// Takes pools and private memory from `reserve` alone from now on, memory that no device
    /// reaches. A device may write to any other memory whenever it likes, because a request that it
    /// has taken lands after every invalidation.
    pub fn set_reserve(&mut self, reserve: Range) {
        self.reserve = Some(reserve);
    }

    /// Checks that no device reaches a block.
    pub(crate) fn check_reserve(&self, block: u64) -> Result<(), Reason> {
        let block = Range::with_size(block, BLOCK_SIZE).ok_or(Reason::WrongFrame)?;
        match self.reserve {
            Some(reserve) if C::RESERVE.is_made() && !reserve.encloses(block) => {
                Err(Reason::Reachable)
            }
            _ => Ok(()),
        }
    }

    /// The register at a physical address that the inner domain writes for Linux; none if it does
    /// not.
    pub fn writable_register(&self, address: u64) -> Option<WritableRegister> {
        self.devices.writable_register(address)
    }

    /// Freezes the entries through which the page of the vectors at `va` is translated. The frame
    /// of the vectors is never written; but VBAR_EL1 is an address, and another frame there would
    /// be other vectors. No entry translates an address outside of the upper range.
    pub const fn keep_vectors(&mut self, va: u64) {
        self.vectors = VirtualAddress::new(va);
    }

    /// Begins a list: [`is_budget_exhausted`](Self::is_budget_exhausted) is about what follows.
    pub const fn begin_list(&mut self) {
        self.cost = 0;
    }

    /// Whether the items of the list have cost so much that its rest has to be another call. This
    /// bounds the length of a call, whatever is in the list.
    pub const fn is_budget_exhausted(&self) -> bool {
        self.cost >= LIST_BUDGET
    }

    pub(super) fn charge(&mut self, cost: u32) {
        self.cost = self.cost.saturating_add(cost);
    }

    /// The types of all frames.
    pub const fn frames(&self) -> &FrameTable<'a> {
        &self.frames
    }

    /// Number of the metadata of the frame at a physical address; none if it has none.
    pub(crate) fn pool_index(&self, address: u64) -> Option<usize> {
        let block = usize::from(pool_block_of(self.frames.word(address))).checked_sub(1)?;
        let within = (address / PAGE_SIZE) as usize % ENTRIES;
        Some(block * ENTRIES + within).filter(|index| *index < self.pool.len())
    }
}
