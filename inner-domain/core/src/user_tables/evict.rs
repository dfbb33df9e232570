// SPDX-License-Identifier: MIT OR Apache-2.0
//! When no page is free, another tree is dropped, or tables of the one that needs it. It is only a
//! cache.
//!
//! A tree that no CPU has goes as a whole. One that a CPU has keeps its root, and all of it while
//! it is small ([`KEPT`]): an instruction that needs several tables at once would never get them
//! otherwise. An arena has room for what all CPUs keep, so there is always something to drop.
//!
//! A tree that is larger than the arena loses tables at random. A process that touches more than
//! there is room for, in turns, would find none of its tables again if the oldest went, or all at
//! once; so it finds those again that there is room for, but for a part of them.

use core::sync::atomic::Ordering;
use donjon_abi::call::Process;

use super::cell::NONE;

use super::free_list::Chain;
use super::path::Tree;
use super::{KEPT, UserTables};
use crate::checks::Checks;
use crate::translation::address::Level;
use crate::translation::{Hardware, flush};

/// Pages that are looked at for one whose tree can go, each some 110 instructions where there are
/// 16 CPUs, and three times in a call. Beyond, the tree that needs a page gives up its own tables,
/// or the call fails and is made again.
const LOOKS: usize = 24;

/// Pages that are looked at for tables that a large tree gives up, and tables of a large one. What
/// the instruction needs that is made again is among those with a chance of one in twenty at most.
const OWN_LOOKS: usize = 24;
const LARGE: u32 = 20 * OWN_LOOKS as u32;

impl<C: Checks> UserTables<'_, C> {
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
            if tree.root.process == Process::NONE {
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

    /// Drops some tables of level 3 of a large tree, whose ASID is invalidated once for all. False
    /// if there was none.
    #[cold]
    #[inline(never)]
    pub(super) fn thin_out<H: Hardware>(&self, hw: &mut H, tree: &mut Tree<'_>) -> bool {
        if tree.root.count < LARGE {
            return false;
        }
        let mut chain = None;
        for _ in 0..OWN_LOOKS {
            let number = self.any_number();
            let cell = self.cell(number);
            let of_tree =
                cell.owner.get() == tree.number && cell.birth.get() == tree.root.generation;
            if of_tree && cell.level.get() == u32::from(Level::Three.number()) {
                self.unlink(hw, tree, number);
                chain = Some(Chain::with(chain, self.cells, number));
            }
        }
        let Some(chain) = chain else {
            return false;
        };
        flush::asid(hw, tree.root.process.asid());
        self.give_back(chain);
        true
    }

    /// A page of the arena that the ones before say nothing about (the finalizer of MurmurHash3
    /// over a counter). What is chosen need not be secret.
    fn any_number(&self) -> u32 {
        let mut mixed = self.hand.fetch_add(1, Ordering::Relaxed);
        for (shift, factor) in [(16, 0x85eb_ca6b_u32), (13, 0xc2b2_ae35)] {
            mixed = (mixed ^ mixed >> shift).wrapping_mul(factor);
        }
        mixed ^= mixed >> 16;
        ((u64::from(mixed) * self.cells.len() as u64) >> 32) as u32
    }
}
