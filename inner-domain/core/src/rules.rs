// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table-write rules: what the outer domain may make of the kernel's tables and of its pools.
//!
//! Every frame of RAM has a type ([`crate::frames`]). A table is a frame of a pool that was typed
//! when it was linked; its entries are written here and nowhere else. A call is checked as a
//! whole first. Then it becomes steps, that is stores, barriers and TLB invalidations, which
//! [`Hardware`] carries out one by one in that order; a refused call has no steps. The tables of
//! users are the inner domain's own ([`crate::shadow`]).
//!
//! Three rules about time hold the rest together:
//!
//! * A valid entry changes in place only in its permissions. An entry that was cleared becomes
//!   valid again only after its address was invalidated *here*: the outer domain's own
//!   invalidations are not trusted. Break-before-make is enforced here.
//! * When a table is unlinked, everything is invalidated at once. So no walk takes a table that is
//!   linked nowhere, or a frame that is free, for what it was.
//! * A frame changes its class only after everything was invalidated.
//!
//! What lies outside: the lock that every caller holds, and the maintenance that hardware
//! updates of entries would need, which no supported configuration turns on.

pub(crate) mod bits;
mod checks;
mod claims;
mod extension;
pub(crate) mod flush;
mod import;
pub(crate) mod leaf;
mod page;
mod pool_frame;
mod pools;
mod release;
mod removal;
mod slots;
mod step;
mod table;
mod text;
mod types;

use donjon_abi::call::Reason;
use donjon_abi::layout::{BLOCK_SIZE, PAGE_SIZE};

use crate::address::ENTRIES;
use crate::devices::{DeviceList, WritableRegister};
use crate::frames::{FrameTable, FrameType, pool_block_of};
use crate::placement::Range;
use crate::private::Private;
use crate::weaken;
use table::LinkedEntry;
use types::EntryAddress;

pub use checks::{Check, Checks, Configured};
pub use extension::Progress;
pub use pool_frame::PoolFrame;
pub use pools::{MAX_TABLE_BLOCKS, MAX_TEXT_BLOCKS, PoolKind};
pub(crate) use slots::may_be_linked;
pub use step::{Hardware, Step};
pub use text::{KernelLeaf, Seal};
pub(crate) use types::RawDescriptor;

/// What the items of one list may cost together, in units of 300 instructions.
const LIST_BUDGET: u32 = 32;
/// What it costs to read all entries of a table or the types of all frames of a block.
const COST_OF_TABLE: u32 = 16;

/// The memory that the rules work with, which is the inner domain's.
pub struct Storage<'a> {
    /// The type of every frame of RAM.
    pub frames: FrameTable<'a>,
    /// Metadata of pool frames: 512 for each block that the table pools may have, at most
    /// [`MAX_TABLE_BLOCKS`] times.
    pub pool: &'a mut [PoolFrame],
    /// Private memory, none so far.
    pub private: Private<'a>,
}

/// The rules and all that they know.
pub struct Rules<'a, C: Checks = Configured> {
    frames: FrameTable<'a>,
    pool: &'a mut [PoolFrame],
    private: Private<'a>,
    /// How the linear map shows a block that is not private, its address aside; none before the
    /// first one became private.
    linear_block: Option<RawDescriptor>,
    devices: DeviceList,
    /// What no device reaches, and pools come from; none where no device is told from others.
    reserve: Option<Range>,
    /// Physical address of the kernel's root.
    root: u64,
    blocks: pools::Blocks,
    /// What to add to a physical address to get its address in the linear map.
    linear_offset: Option<u64>,
    extension: Option<extension::Extension>,
    claims: claims::Claims,
    /// What the items of a list have cost so far.
    cost: u32,
    /// Virtual address of the page that VBAR_EL1 is in, from the hand-over on.
    vectors: Option<u64>,
    checks: core::marker::PhantomData<C>,
}

impl<'a> Rules<'a> {
    /// Rules over `storage`, in which the types of all frames but those of pools and tables are
    /// right. `root` is the physical address of the kernel's root.
    pub fn new(storage: Storage<'a>, devices: DeviceList, root: u64) -> Self {
        Self::with_checks(storage, devices, root)
    }
}

impl<'a, C: Checks> Rules<'a, C> {
    /// Makes rules with a choice of checks: [`new`](Rules::new) has all of them.
    pub fn with_checks(storage: Storage<'a>, devices: DeviceList, root: u64) -> Self {
        let Storage {
            frames,
            pool,
            private,
        } = storage;
        // More would have no number.
        let frames_of_pools = pool.len().min(MAX_TABLE_BLOCKS * ENTRIES);
        Self {
            frames,
            pool: &mut pool[..frames_of_pools],
            private,
            linear_block: None,
            devices,
            reserve: None,
            root,
            blocks: pools::Blocks::NONE,
            linear_offset: None,
            extension: None,
            claims: claims::Claims::NONE,
            cost: 0,
            vectors: None,
            checks: core::marker::PhantomData,
        }
    }

    /// Takes pools and private memory from `reserve` alone from now on, memory that no device
    /// reaches. A device may write to any other memory whenever it likes, because a request that it
    /// has taken lands after every invalidation.
    pub fn set_reserve(&mut self, reserve: Range) {
        self.reserve = Some(reserve);
    }

    /// Checks that no device reaches a block.
    fn check_reserve(&self, block: u64) -> Result<(), Reason> {
        let block = Range::with_size(block, BLOCK_SIZE).ok_or(Reason::WrongFrame)?;
        match self.reserve {
            Some(reserve) if C::RESERVE.is_made() && !reserve.encloses(block) => {
                Err(Reason::Reachable)
            }
            _ => Ok(()),
        }
    }

    /// Replaces the entry at physical address `entry`; returns what stood there.
    ///
    /// # Errors
    ///
    /// A [`Reason`] when a rule forbids it; nothing has changed then.
    pub fn write<H: Hardware>(
        &mut self,
        hw: &mut H,
        entry: u64,
        value: u64,
    ) -> Result<u64, Reason> {
        self.charge(1);
        let entry = EntryAddress::new(entry).ok_or(Reason::BadEntry)?;
        let value = RawDescriptor(value);
        let old = if entry.table().as_u64() == self.root {
            self.write_root(hw, entry, value)
        } else {
            self.write_below_root(hw, entry, value)
        };
        old.map(|old| old.0)
    }

    fn write_below_root<H: Hardware>(
        &mut self,
        hw: &mut H,
        entry: EntryAddress,
        value: RawDescriptor,
    ) -> Result<RawDescriptor, Reason> {
        let class = self.frames.get(entry.as_u64());
        if weaken::PRIVATE_TABLES.is_left_out() && self.is_private_table(class, value) {
            let old = entry.read(hw);
            entry.write(hw, value);
            return Ok(old);
        }
        let level = class.and_then(FrameType::as_table);
        let level = level.ok_or(Reason::NotATable)?;
        // The table block holds tables as well, without metadata: those never change.
        let table = self.pool_index(entry.as_u64());
        let table = table.ok_or(Reason::NotATable)?;
        let place = LinkedEntry {
            entry,
            table,
            level,
        };
        if C::VECTORS.is_made() && self.shows_vectors(place) {
            return Err(Reason::NotText);
        }
        match level.next() {
            None => self.write_page(hw, place, value),
            Some(below) => self.write_table(hw, place, below, value),
        }
    }

    /// Whether a private frame is written as a table, or is to be one below level 1.
    fn is_private_table(&self, written: Option<FrameType>, value: RawDescriptor) -> bool {
        let is_link = written == Some(FrameType::KernelTable1) && value.is_plain_table();
        let child = self.frames.get(value.output().as_u64());
        let private = Some(FrameType::Private);
        written == private || is_link && value.is_valid() && child == private
    }

    /// The check of [`write`](Self::write) alone, for a valid descriptor of a table of level 3.
    pub(crate) fn check_page(&self, leaf: u64) -> Result<(), Reason> {
        leaf::check_page::<C>(&self.frames, &self.devices, RawDescriptor(leaf))
    }

    /// The check of [`write`](Self::write) alone, for a valid block descriptor of a table of level
    /// 2.
    pub(crate) fn check_block(&self, leaf: u64) -> Result<(), Reason> {
        leaf::check_block::<C>(&self.frames, &self.devices, RawDescriptor(leaf))
    }

    /// The register at a physical address that the inner domain writes for Linux; none if it does
    /// not.
    pub fn writable_register(&self, address: u64) -> Option<WritableRegister> {
        self.devices.writable_register(address)
    }

    /// Freezes the entries through which the page of the vectors at `va` is translated. The frame
    /// of the vectors is never written; but VBAR_EL1 is an address, and another frame there would
    /// be other vectors.
    pub const fn keep_vectors(&mut self, va: u64) {
        self.vectors = Some(va);
    }

    fn shows_vectors(&self, place: LinkedEntry) -> bool {
        let start = self.address(place);
        self.vectors
            .is_some_and(|it| it.wrapping_sub(start) < place.level.size())
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

    fn charge(&mut self, cost: u32) {
        self.cost = self.cost.saturating_add(cost);
    }

    /// The private frames, and the types of all frames.
    pub const fn private(&mut self) -> (&FrameTable<'a>, &mut Private<'a>) {
        (&self.frames, &mut self.private)
    }

    /// The types of all frames.
    pub const fn frames(&self) -> &FrameTable<'a> {
        &self.frames
    }

    /// Number of the metadata of the frame at a physical address; none if it has none.
    fn pool_index(&self, address: u64) -> Option<usize> {
        let block = usize::from(pool_block_of(self.frames.word(address))).checked_sub(1)?;
        let within = (address / PAGE_SIZE) as usize % ENTRIES;
        Some(block * ENTRIES + within).filter(|index| *index < self.pool.len())
    }
}
