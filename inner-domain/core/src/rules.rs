// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table-write rules: what the outer domain may make of the kernel's tables and of its pools.
//!
//! Every frame of RAM has a type ([`crate::frames`]). A table is a frame of a pool that was typed
//! when it was linked; its entries are written here and nowhere else. A call is checked as a
//! whole first. Then its steps, which are stores, barriers and TLB invalidations, go to
//! [`Hardware`] one after the other; a refused call has no steps. The tables of users are the
//! inner domain's own ([`crate::shadow`]).
//!
//! Three rules about time hold the rest together:
//!
//! * A valid entry changes in place only in its permissions. An entry that was cleared becomes
//!   valid again only after its address was invalidated *here*: what the outer domain says about
//!   its own invalidations counts for nothing. So break-before-make does not rest on other people's word.
//! * When a table is unlinked, everything is invalidated at once. So no walk takes a table that is
//!   linked nowhere, or a frame that is free, for what it was.
//! * A frame changes its class only after everything was invalidated.
//!
//! What lies outside: the lock that every caller holds, and the maintenance that hardware
//! updates of entries would need, which no supported configuration turns on.

mod adopt;
pub(crate) mod bits;
mod checks;
pub(crate) mod flush;
mod growth;
pub(crate) mod leaf;
mod links;
mod page;
mod pool_frame;
mod pools;
mod release;
mod slots;
mod step;
mod text;
mod verdict;

use donjon_abi::call::Reason;
use donjon_abi::layout::PAGE_SIZE;

use crate::address::ENTRIES;
use crate::devices::DeviceList;
use crate::frames::{FrameTable, FrameType, slot_of};

pub use checks::{Checks, Configured};
pub use growth::Progress;
pub use pool_frame::PoolFrame;
pub use pools::{MAX_TABLE_BLOCKS, MAX_TEXT_BLOCKS, PoolKind};
pub use step::{Hardware, Step};
pub use text::{KernelLeaf, Seal};
pub(crate) use verdict::{is_plain_table, may_be_linked};

/// Most effort of one list, in entries of 300 instructions each.
const MOST_EFFORT: u32 = 32;
/// The effort of looking at all entries of a table or all frames of a block.
const LOOK_THROUGH: u32 = 16;

/// The memory that the rules work with. All of it is the inner domain's.
pub struct Storage<'a> {
    /// The type of every frame of RAM.
    pub frames: FrameTable<'a>,
    /// Metadata of pool frames: 512 for each block that the table pools may have, at most
    /// [`MAX_TABLE_BLOCKS`] times.
    pub pool: &'a mut [PoolFrame],
}

/// The rules and all that they know.
pub struct Rules<'a, C: Checks = Configured> {
    frames: FrameTable<'a>,
    pool: &'a mut [PoolFrame],
    devices: DeviceList,
    /// Physical address of the kernel's root.
    root: u64,
    blocks: pools::Blocks,
    /// What to add to a physical address to get its address in the linear map.
    linear_offset: Option<u64>,
    growth: Option<growth::Growth>,
    /// What the items of a list have cost so far.
    effort: u32,
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
    /// The same with a choice of checks.
    pub fn with_checks(storage: Storage<'a>, devices: DeviceList, root: u64) -> Self {
        let Storage { frames, pool } = storage;
        // More would have no number.
        let frames_of_pools = pool.len().min(MAX_TABLE_BLOCKS * ENTRIES);
        Self {
            frames,
            pool: &mut pool[..frames_of_pools],
            devices,
            root,
            blocks: pools::Blocks::NONE,
            linear_offset: None,
            growth: None,
            effort: 0,
            vectors: None,
            checks: core::marker::PhantomData,
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
        self.add_effort(1);
        if !entry.is_multiple_of(8) {
            return Err(Reason::BadEntry);
        }
        if entry & !(PAGE_SIZE - 1) == self.root {
            return self.write_root(hw, entry, value);
        }
        let class = self.frames.get(entry);
        let level = class.and_then(FrameType::as_table);
        let level = level.ok_or(Reason::NotATable)?;
        // The table block holds tables as well, without metadata: those never change.
        let table = self.pool_index(entry).ok_or(Reason::NotATable)?;
        let place = links::Place {
            entry,
            table,
            level,
        };
        if C::VECTORS && self.shows_vectors(place) {
            return Err(Reason::NotText);
        }
        match level.next() {
            None => self.write_page(hw, place, value),
            Some(below) => self.write_table(hw, place, below, value),
        }
    }

    /// From now on nothing is changed through which the page at `va` is translated. The frame of
    /// the vectors is never written; but VBAR_EL1 is an address, and another frame there
    /// would be other vectors.
    pub const fn keep_vectors(&mut self, va: u64) {
        self.vectors = Some(va);
    }

    fn shows_vectors(&self, place: links::Place) -> bool {
        let start = self.address(place);
        self.vectors
            .is_some_and(|it| it.wrapping_sub(start) < place.level.size())
    }

    /// Begins a list: [`is_tired`](Self::is_tired) is about what follows.
    pub const fn begin_list(&mut self) {
        self.effort = 0;
    }

    /// Whether the list has taken so long that its rest has to be another call. The length of a
    /// call is bounded by this, whatever is in the list.
    pub const fn is_tired(&self) -> bool {
        self.effort >= MOST_EFFORT
    }

    fn add_effort(&mut self, effort: u32) {
        self.effort = self.effort.saturating_add(effort);
    }

    /// The types of all frames.
    pub const fn frames(&self) -> &FrameTable<'a> {
        &self.frames
    }

    /// Number of the metadata of the frame at a physical address; none if it has none.
    fn pool_index(&self, address: u64) -> Option<usize> {
        let block = usize::from(slot_of(self.frames.word(address))).checked_sub(1)?;
        let within = (address / PAGE_SIZE) as usize % ENTRIES;
        Some(block * ENTRIES + within).filter(|index| *index < self.pool.len())
    }
}

/// Index of an entry in its table, from its address.
const fn index_of(entry: u64) -> usize {
    (entry / 8) as usize % ENTRIES
}
