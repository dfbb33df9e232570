// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pages of the arena that no tree has, as a list through their cells.

use super::cell::{Cell, NONE};

/// The free pages, as a list through their cells.
pub(super) struct FreeList {
    first: u32,
    /// How many there are.
    pub free: u32,
    /// The first number of those that have never been taken.
    used: u32,
}

impl FreeList {
    /// A list of all pages, each free.
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

    /// Takes the first page; none if no page is free.
    pub fn take(&mut self, cells: &[Cell]) -> Option<u32> {
        let number = self.first;
        let cell = cells.get(number as usize)?;
        self.first = cell.next.get();
        self.free -= 1;
        // The list begins in their order, so those before it have been taken as well.
        self.used = self.used.max(number + 1);
        Some(number)
    }

    /// Puts back a chain from `first` to `last` of `count` pages.
    pub fn put(&mut self, cells: &[Cell], chain: Chain) {
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
