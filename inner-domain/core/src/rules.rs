// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table-write rules: what the outer domain may make of its tables, its roots and its pools.
//!
//! Every frame of RAM has a type ([`crate::frames`]). A table is a frame of a pool that was typed
//! when it was linked; its entries are written here and nowhere else. A call is checked as a
//! whole first. Then it becomes a list of steps, stores, barriers and TLB invalidations, which
//! [`Hardware`] carries out in that order; a refused call has no steps.
//!
//! Three rules about time hold the rest together:
//!
//! * A valid entry changes in place only in its permissions. An entry that was cleared becomes
//!   valid again only after its address was invalidated *here*: what the outer domain says about
//!   its own invalidations counts for nothing. That is break-before-make on other people's word.
//! * A table that was unlinked is linked again, or its root gets another table, only after the
//!   root's ASID was invalidated.
//! * A frame changes its class only after everything was invalidated.
//!
//! What lies outside: the lock that every caller holds, and the maintenance that hardware
//! updates of entries would need, which no supported configuration turns on.

mod adopt;
mod bits;
mod checks;
mod flush;
mod growth;
mod leaf;
mod links;
mod page;
mod pool_frame;
mod pools;
mod release;
mod roots;
mod slots;
mod step;
mod text;
mod user_page;
mod verdict;

use donjon_abi::call::Reason;
use donjon_abi::layout::{MAX_CPUS, PAGE_SIZE};

use crate::address::ENTRIES;
use crate::devices::DeviceList;
use crate::frames::{FrameTable, FrameType, slot_of, type_of};

pub use checks::{Checks, Configured};
pub use growth::Progress;
pub use pool_frame::PoolFrame;
pub use pools::{MAX_TABLE_BLOCKS, MAX_TEXT_BLOCKS, PoolKind};
pub use step::{Hardware, Step};
pub use text::{KernelLeaf, Seal};
pub(crate) use verdict::{is_plain_table, may_be_linked};

/// ASIDs that there are.
pub const ASIDS: usize = 1 << 16;

/// Most effort of one list, in entries that are no pages of users: 300 instructions each.
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
    /// [`ASIDS`] entries, zero at first: the root that has the ASID, as its number among the
    /// pool frames plus 1.
    pub asids: &'a mut [u16],
}

/// The rules and all that they know. What every write needs comes first, where one instruction
/// loads two words of it.
#[repr(C)]
pub struct Rules<'a, C: Checks = Configured> {
    last: user_page::LastTable,
    frames: FrameTable<'a>,
    pool: &'a mut [PoolFrame],
    asids: &'a mut [u16],
    devices: DeviceList,
    /// Physical address of the kernel's root.
    root: u64,
    /// Physical address of the root that maps nothing.
    reserved_root: u64,
    /// The user root of each CPU, as its number among the pool frames plus 1; 0 for none.
    current: [u16; MAX_CPUS],
    /// Number of the last invalidation of everything. Only equality counts: after a wrap an
    /// invalidation too many is made, never one too few.
    epoch: u16,
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
    /// right. `root` and `reserved_root` are the physical addresses of the kernel's root and of
    /// the root that maps nothing.
    pub fn new(storage: Storage<'a>, devices: DeviceList, root: u64, reserved_root: u64) -> Self {
        Self::with_checks(storage, devices, root, reserved_root)
    }
}

impl<'a, C: Checks> Rules<'a, C> {
    /// The same with a choice of checks.
    pub fn with_checks(
        storage: Storage<'a>,
        devices: DeviceList,
        root: u64,
        reserved_root: u64,
    ) -> Self {
        let Storage {
            frames,
            pool,
            asids,
        } = storage;
        // More could not be told from no root, and would have no number.
        let frames_of_pools = pool.len().min(MAX_TABLE_BLOCKS * ENTRIES);
        let pool = &mut pool[..frames_of_pools];
        Self {
            last: user_page::LastTable::NONE,
            frames,
            pool,
            asids,
            devices,
            root,
            reserved_root,
            current: [0; MAX_CPUS],
            epoch: 0,
            blocks: pools::Blocks::NONE,
            linear_offset: None,
            growth: None,
            effort: 0,
            vectors: None,
            checks: core::marker::PhantomData,
        }
    }

    /// The calls that are not made for every page.
    #[inline(never)]
    fn write_other<H: Hardware>(
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
        let class = type_of(self.frames.word(entry)).and_then(FrameType::as_table);
        let (level, user) = class.ok_or(Reason::NotATable)?;
        // The table block holds tables as well, without metadata: nobody changes those.
        let table = self.pool_index(entry).ok_or(Reason::NotATable)?;
        let place = links::Place {
            entry,
            table,
            level,
            user,
        };
        if C::VECTORS && !user && self.shows_vectors(place) {
            return Err(Reason::NotText);
        }
        match level.next() {
            None => self.write_page(hw, place, value),
            Some(_) => self.write_table(hw, place, value),
        }
    }

    /// From now on nothing is changed through which the page at `va` is translated. The frame of
    /// the vectors is nobody's to write; but VBAR_EL1 is an address, and another frame there
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
    #[inline(always)]
    pub const fn is_tired(&self) -> bool {
        self.effort >= MOST_EFFORT
    }

    fn add_effort(&mut self, effort: u32) {
        self.effort = self.effort.saturating_add(effort);
    }

    /// The types of all frames, for whoever has to look at them.
    pub const fn frames(&self) -> &FrameTable<'a> {
        &self.frames
    }

    /// Number of the metadata of the frame at a physical address; none if it has none.
    fn pool_index(&self, address: u64) -> Option<usize> {
        let index = table_index(self.frames.word(address), address);
        (index < self.pool.len()).then_some(index)
    }
}

/// Where the metadata of a frame stands, from the frame's entry in the frame table. Past the end
/// for a frame without any.
#[inline]
const fn table_index(word: u16, address: u64) -> usize {
    let within = (address / PAGE_SIZE) as usize % ENTRIES;
    (slot_of(word) as usize * ENTRIES + within).wrapping_sub(ENTRIES)
}

/// Index of an entry in its table, from its address.
const fn index_of(entry: u64) -> usize {
    (entry / 8) as usize % ENTRIES
}
