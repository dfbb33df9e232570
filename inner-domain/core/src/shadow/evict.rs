// SPDX-License-Identifier: MIT OR Apache-2.0
//! When no page is free, another tree is dropped. It is only a cache.
//!
//! A tree that no CPU has goes as a whole. One that a CPU has keeps its root, and all of it while
//! it is small ([`KEPT`]): an instruction that needs several tables at once would never get them
//! otherwise. An arena has room for what all CPUs keep, so there is always something to drop.

use core::sync::atomic::Ordering;

use super::cell::Name;
use super::path::Tree;
use super::{KEPT, NONE, Shadows};
use crate::rules::{Checks, Hardware};

/// Pages that are looked at for one whose tree can go, each some 110 instructions where there are 16
/// CPUs, and three times in a call. Beyond, the tree that needs a page gives up its own tables, or the
/// call fails and is made again.
const LOOKS: usize = 24;

impl<C: Checks> Shadows<'_, C> {
    /// Drops a tree that is not the caller's. The lock of the caller's own tree is held, others'
    /// are only tried.
    #[cold]
    #[inline(never)]
    pub(super) fn evict<H: Hardware>(&self, hw: &mut H) {
        for _ in 0..LOOKS {
            let number = self.hand.fetch_add(1, Ordering::Relaxed) % self.cells.len() as u32;
            let owner = self.cell(number).owner.get();
            if owner == NONE {
                continue;
            }
            let Some(root) = self.cell(owner).root.try_lock() else {
                continue;
            };
            let tree = Tree {
                root,
                number: owner,
            };
            if tree.root.name == Name::NONE {
                continue;
            }
            if !self.is_current(owner) {
                self.drop_tree(hw, tree);
                return;
            }
            if tree.root.count > KEPT {
                self.empty(hw, &mut { tree });
                return;
            }
        }
    }
}
