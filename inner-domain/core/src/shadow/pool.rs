// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages of the arena that no tree has.

use super::cell::{Cell, NOWHERE, Root};
use super::path::Tree;
use super::{NONE, Shadows};
use crate::rules::{Checks, Hardware, Step};

/// Most groups of eight entries that are made zero without the rest.
const FEW: u32 = 6;

/// The free pages, as a list through their cells.
pub(super) struct Pool {
    first: u32,
    free: u32,
    /// The first number of those that have never been taken.
    used: u32,
}

impl Pool {
    /// A pool of all pages, each free.
    pub fn of(cells: &[Cell]) -> Self {
        let mut first = NONE;
        for (number, cell) in (0..cells.len() as u32).zip(cells).rev() {
            cell.next.set(first);
            first = number;
        }
        Self {
            first,
            free: cells.len() as u32,
            used: 0,
        }
    }

    /// How many pages have been taken so far, free ones included: no page beyond has.
    pub const fn used(&self) -> u32 {
        self.used
    }

    fn take(&mut self, cells: &[Cell]) -> Option<u32> {
        let number = self.first;
        let cell = cells.get(number as usize)?;
        self.first = cell.next.get();
        self.free -= 1;
        // The list begins in their order, so those before it have been taken as well.
        self.used = self.used.max(number + 1);
        Some(number)
    }

    /// Puts back a chain from `first` to `last` of `count` pages.
    fn put(&mut self, cells: &[Cell], chain: Chain) {
        cells[chain.last as usize].next.set(self.first);
        self.first = chain.first;
        self.free += chain.count;
    }
}

/// Pages that are linked by `next`.
#[derive(Clone, Copy)]
pub(super) struct Chain {
    pub first: u32,
    pub last: u32,
    pub count: u32,
}

impl Chain {
    /// A chain, or none yet, with one page more, which is in no list.
    pub fn with(chain: Option<Self>, cells: &[Cell], number: u32) -> Self {
        cells[number as usize]
            .next
            .set(chain.map_or(NONE, |it| it.first));
        Self {
            first: number,
            last: chain.map_or(number, |it| it.last),
            count: chain.map_or(1, |it| it.count + 1),
        }
    }
}

impl<C: Checks> Shadows<'_, C> {
    /// Free pages.
    pub fn free_pages(&self) -> u32 {
        self.pool.lock().free
    }

    /// A page for a table of a tree, or for a root if there is none yet. Zero, and zero for walks
    /// as soon as the caller has made stores visible. Trees of others may be dropped for it. None
    /// if there is nothing to drop but the tree itself.
    pub(super) fn allocate<H: Hardware>(&self, hw: &mut H) -> Option<u32> {
        let number = self.take_free().or_else(|| {
            self.evict(hw);
            self.take_free()
        })?;
        self.zero(hw, number);
        Some(number)
    }

    /// Makes a free page zero: what may be something else, or all of it if that is more.
    fn zero<H: Hardware>(&self, hw: &mut H, number: u32) {
        let cell = self.cell(number);
        let (frame, groups) = (self.frame(number), cell.valid.get());
        if groups.count_ones() <= FEW {
            hw.perform(Step::ZeroGroups { frame, groups });
        } else {
            hw.perform(Step::ZeroFrame(frame));
        }
        cell.valid.set(0);
    }

    fn take_free(&self) -> Option<u32> {
        self.pool.lock().take(self.cells)
    }

    /// Gives back pages to which no walk leads any more: unlinked and invalidated.
    pub(super) fn give_back(&self, chain: Chain) {
        self.pool.lock().put(self.cells, chain);
    }

    /// Gives back one page.
    pub(super) fn give_back_one(&self, number: u32) {
        self.give_back(Chain {
            first: number,
            last: number,
            count: 1,
        });
    }

    /// Takes all tables but the root out of a tree's list, to be given back behind an
    /// invalidation.
    pub(super) fn detach_all(&self, tree: &mut Tree<'_>) -> Option<Chain> {
        let root: &mut Root = &mut tree.root;
        let chain = (root.count != 0).then_some(Chain {
            first: root.first,
            last: root.last,
            count: root.count,
        });
        root.first = NONE;
        root.last = NONE;
        root.count = 0;
        root.cursor = NONE;
        root.recent_va = NOWHERE;
        root.left = u64::MAX;
        root.generation = self.generation();
        chain
    }
}
