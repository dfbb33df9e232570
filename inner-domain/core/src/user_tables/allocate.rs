// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages of the arena are taken for trees, and given back.

use super::UserTables;
use super::cell::{NONE, NOWHERE, Root};
use super::free_list::Chain;
use super::path::Tree;
use crate::checks::Checks;
use crate::translation::{Hardware, Step};

/// Most groups of eight entries that are made zero without the rest.
const FEW: u32 = 6;

impl<C: Checks> UserTables<'_, C> {
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
        let (frame, groups) = (self.frame(number).as_u64(), cell.valid.get());
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
