// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is kept about one page of the arena.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use donjon_abi::call::Process;

use spin::mutex::Mutex;

use crate::report::waits::{TREES, Waiting};

/// No cell.
pub(super) const NONE: u32 = u32::MAX;

/// A number that a lock guards.
#[derive(Debug)]
pub(super) struct Number(AtomicU64);

impl Number {
    const fn new(value: u64) -> Self {
        Self(AtomicU64::new(value))
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }
}

/// A shared number of 32 bits, for a cell's number or a count, without an order of its own.
#[derive(Debug)]
pub(super) struct Short(AtomicU32);

impl Short {
    const fn new(value: u32) -> Self {
        Self(AtomicU32::new(value))
    }

    pub fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    pub fn set(&self, value: u32) {
        self.0.store(value, Ordering::Relaxed);
    }
}

/// What is kept about one page of the arena.
#[derive(Debug)]
pub struct Cell {
    /// Lock of a tree, in the cell of its root, and what it guards besides the cells of its tables.
    pub(super) root: Mutex<Root, Waiting<TREES>>,
    /// Neighbours in the list of the root's tables, or the next free one.
    pub(super) next: Short,
    pub(super) previous: Short,
    /// The root that the table belongs to, its own number for a root, or [`NONE`]. What is free may
    /// still have its last one, of an earlier `birth`.
    pub(super) owner: Short,
    /// The tree's generation when the table was linked; 0 for none. With the owner's lock held, a
    /// table is the owner's if this is its generation.
    pub(super) birth: Number,
    /// 0 for a root, else 1 to 3.
    pub(super) level: Short,
    /// The entry that leads to it.
    pub(super) parent: Number,
    /// First address that it translates.
    pub(super) va: Number,
    /// One bit for each eight entries that may be other than zero, of a page that is free as well:
    /// taking the page clears those.
    pub(super) valid: Number,
    /// Bits of `valid` whose entries may have a writable page or block.
    pub(super) writable: Number,
    /// Linux's table that its pages or blocks were filled from last, or [`NOWHERE`]. It was
    /// ordinary then, and `withdraw` forgets it before it is used for anything else.
    pub(super) source: Number,
}

const _: () = assert!(size_of::<Cell>() <= 128);

impl Cell {
    /// A page that is free and has never been anything else.
    pub const fn new() -> Self {
        Self {
            root: Mutex::new(Root::NEW),
            next: Short::new(NONE),
            previous: Short::new(NONE),
            owner: Short::new(NONE),
            birth: Number::new(0),
            level: Short::new(0),
            parent: Number::new(0),
            va: Number::new(0),
            valid: Number::new(u64::MAX),
            writable: Number::new(0),
            source: Number::new(NOWHERE),
        }
    }
}

impl Default for Cell {
    fn default() -> Self {
        Self::new()
    }
}

/// What the lock of a tree guards.
#[derive(Clone, Copy, Debug)]
pub(super) struct Root {
    /// The process of the tree; none when the page is no root. While the lock is held and this is
    /// one, the ASID's entry leads here.
    pub process: Process,
    /// Number that changes each time that the tree is emptied.
    pub generation: u64,
    /// First, last and number of its tables, the root not among them.
    pub first: u32,
    pub last: u32,
    pub count: u32,
    /// Where a refresh goes on, or [`NONE`], and which groups of that table it has not read yet.
    pub cursor: u32,
    pub left: u64,
    /// The addresses of the table of level 3 that was looked for last, or [`NOWHERE`], and its
    /// number.
    pub recent_va: u64,
    pub recent: u32,
}

/// No address of a table, and none that one begins to translate at.
pub(super) const NOWHERE: u64 = u64::MAX;

impl Root {
    /// No root.
    pub const NEW: Self = Self {
        process: Process::NONE,
        generation: 0,
        first: NONE,
        last: NONE,
        count: 0,
        cursor: NONE,
        left: u64::MAX,
        recent_va: NOWHERE,
        recent: NONE,
    };
}
