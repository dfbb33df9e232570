// SPDX-License-Identifier: MIT OR Apache-2.0
//! User tables of the inner domain's own: the tables that TTBR0_EL1 leads to.
//!
//! Linux keeps a process's tables in ordinary memory and writes them with plain stores; no walk
//! reads them. What walks read are *shadows*, in memory that only the inner domain reads and
//! writes. They are filled like a TLB: [`UserTables::map`] takes descriptors over, each checked,
//! [`UserTables::flush`] drops them where Linux would drop TLB entries, and both invalidate the TLB
//! before they return. A shadow is only a cache: it may be dropped at any time, and the next
//! access faults and fills it again.
//!
//! A tree of shadows belongs to an ASID, and an ASID has one tree. The number that Linux gives
//! with it says whose tree it is; when it changes, the tree is emptied and the ASID invalidated.
//! A wrong number harms the outer domain's own processes alone.
//!
//! What holds at each moment, whatever the outer domain asks for:
//!
//! * A shadow maps ordinary frames, or kernel text and constants read-only (the vDSO), never
//!   global, never executable at EL1.
//! * A valid entry changes in place only in its permissions; otherwise it is invalid in between
//!   and its address invalidated (DDI 0487, D8.17.1, break-before-make).
//! * A refresh adds no right: what it leaves of a valid entry is the entry, or the entry read-only.
//! * Every entry that became invalid, or lost a permission, is invalidated in the TLB before the
//!   call ends, so that an entry which is not there needs no invalidation.
//! * A frame of a tree is used again only behind an invalidation of the tree's ASID.
//!
//! Locks: a tree's own, held by whatever reads or writes it, and the pool's, taken under it for a
//! few instructions. A call that holds one tree's lock only tries another's. The fields of a
//! [`Cell`] are atomic because the compiler cannot see which lock guards them; the lock orders
//! them.

mod allocate;
mod cell;
mod evict;
mod fill;
mod flush;
mod free_list;
mod leaf;
mod path;
mod pending;
mod protect;
mod refresh;
mod root;
mod withdraw;

use core::marker::PhantomData;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use donjon_abi::call::Process;
use donjon_abi::layout::{MAX_CPUS, PAGE_SIZE};
use spin::mutex::Mutex;

use crate::checks::{Checks, Configured};
use crate::range::Range;
use crate::report::waits::{ARENA, Waiting};
use crate::translation::FrameAddress;
use crate::translation::address::UserAddress;

use cell::NONE;
use free_list::FreeList;

pub use cell::Cell;
pub use fill::Fill;
pub use withdraw::Withdrawal;

/// One past the last address of the lower range.
pub const USER_END: u64 = UserAddress::END;

/// The memory that the shadows work with, which is the inner domain's.
pub struct Storage<'a> {
    /// Memory for tables, whole pages.
    pub arena: Range,
    /// Metadata of each page of the arena.
    pub cells: &'a [Cell],
    /// [`ASIDS`] entries, zero at first: the root of an ASID, as the number
    /// of its page in the arena plus 1.
    pub asids: &'a [AtomicU32],
}

/// All trees of shadows.
pub struct UserTables<'a, C: Checks = Configured> {
    /// The first page of the arena.
    first: FrameAddress,
    cells: &'a [Cell],
    asids: &'a [AtomicU32; ASIDS],
    /// The root of each CPU, as in [`Storage::asids`]. Changed under the lock of the new one, when
    /// the CPU has loaded it.
    current: [AtomicU32; MAX_CPUS],
    pool: Mutex<FreeList, Waiting<ARENA>>,
    /// The root that maps nothing.
    reserved_root: FrameAddress,
    /// Where the search for a tree to drop goes on.
    hand: AtomicU32,
    /// The next generation of any tree. No number comes twice; 0 is none.
    generations: AtomicU64,
    checks: PhantomData<C>,
}

/// ASIDs that there are.
pub const ASIDS: usize = 1 << 16;

/// Tables that a tree keeps while it is current on some CPU: enough for every page that one
/// instruction can touch, three tables each, many times over.
pub const KEPT: u32 = 64;

/// Fewest pages of an arena: what the trees of all CPUs keep, and one more.
pub const LEAST_PAGES: u64 = (MAX_CPUS as u64 + 1) * (KEPT as u64 + 1);

impl<'a> UserTables<'a> {
    /// User tables without a tree. `reserved_root` is the physical address of the root that maps
    /// nothing. None if that is not the address of a page, or if the storage does not fit together
    /// or is too small.
    pub fn new(storage: Storage<'a>, reserved_root: u64) -> Option<Self> {
        Self::with_checks(storage, reserved_root)
    }
}

impl<'a, C: Checks> UserTables<'a, C> {
    /// Makes shadows with a choice of checks: [`new`](UserTables::new) has all of them.
    pub fn with_checks(storage: Storage<'a>, reserved_root: u64) -> Option<Self> {
        let Storage {
            arena,
            cells,
            asids,
        } = storage;
        let pages = (arena.end() - arena.start()) / PAGE_SIZE;
        let whole = arena.start().is_multiple_of(PAGE_SIZE);
        let right = whole && pages == cells.len() as u64;
        let asids = asids.try_into().ok()?;
        if !right || pages < LEAST_PAGES || pages >= u64::from(NONE) {
            return None;
        }
        Some(Self {
            first: FrameAddress::new(arena.start())?,
            cells,
            asids,
            current: [const { AtomicU32::new(0) }; MAX_CPUS],
            pool: Mutex::new(FreeList::of(cells)),
            reserved_root: FrameAddress::new(reserved_root)?,
            hand: AtomicU32::new(0),
            generations: AtomicU64::new(1),
            checks: PhantomData,
        })
    }

    /// A generation that no tree has had.
    fn generation(&self) -> u64 {
        self.generations.fetch_add(1, Ordering::Relaxed)
    }

    fn cell(&self, number: u32) -> &'a Cell {
        &self.cells[number as usize]
    }

    /// The page of a table.
    const fn frame(&self, number: u32) -> FrameAddress {
        self.first.after(number as u64)
    }

    /// The table at a physical address, which a descriptor of ours named.
    const fn number(&self, frame: FrameAddress) -> u32 {
        frame.distance(self.first) as u32
    }

    /// The root of an ASID's tree and its process, for tests.
    pub fn tree(&self, asid: u16) -> Option<(u64, Process)> {
        let tree = self.lock(asid)?;
        Some((self.frame(tree.number).as_u64(), tree.root.process))
    }

    /// Whether a CPU other than `cpu` has this root.
    fn is_current_elsewhere(&self, cpu: usize, root: u32) -> bool {
        let mut others = self.current.iter().enumerate();
        others.any(|(other, it)| other != cpu && it.load(Ordering::Acquire) == root + 1)
    }

    /// Whether any CPU has this root.
    fn is_current(&self, root: u32) -> bool {
        self.is_current_elsewhere(usize::MAX, root)
    }
}
