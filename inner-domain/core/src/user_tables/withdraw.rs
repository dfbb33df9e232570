// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames stop being ordinary: every shadow of them is dropped first.
//!
//! The caller has given the frames another type, so that no check lets them into a shadow any
//! more, and made that visible with a DSB. A call on another CPU may have checked before. Two
//! rounds over the arena deal with it, a slice at a time:
//!
//! 1. Each root's lock is taken once. What was checked under it before is complete then, and what
//!    is checked later sees the new type. A root that is made meanwhile has a DSB between becoming
//!    one and its first check.
//! 2. Each table of level 3 and each level 2 entry of a block is looked at under its root's lock.
//!
//! The tree's ASID is invalidated before its lock is given back: an entry that is not there needs
//! no invalidation.

use donjon_abi::call::Process;
use donjon_abi::layout::PAGE_SIZE;

use super::UserTables;
use super::cell::{NONE, NOWHERE};
use super::pending::Pending;
use crate::checks::Checks;
use crate::memory::block_set::BlockSet;
use crate::translation::bits;
use crate::translation::frames::{FrameTable, FrameType};
use crate::translation::{Hardware, Step};

/// What a slice may cost, in looks at a cell of some twenty instructions, before it looks at one
/// more; what one with a lock and one at a table cost.
const SLICE: u32 = 768;
const LOCK_COST: u32 = 4;
const TABLE_COST: u32 = SLICE;
/// What a slice may have cost when it comes to a table, and how many entries of it are dropped,
/// each some forty instructions. The next slice begins with that table again.
const BEFORE_TABLE: u32 = 256;
const DROPPED_PER_SLICE: usize = 128;

/// How far it came. Begins with the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Withdrawal {
    second: bool,
    next: u32,
}

impl<C: Checks> UserTables<'_, C> {
    /// Drops shadows of the frames in `blocks`, which are claimed, a slice at a time. None when
    /// there are none left.
    pub fn withdraw<H: Hardware>(
        &self,
        hw: &mut H,
        claimed: (&FrameTable<'_>, &BlockSet),
        so_far: Withdrawal,
    ) -> Option<Withdrawal> {
        let Withdrawal { second, mut next } = so_far;
        let mut cost = 0;
        // Pages beyond have never been in a tree. One that becomes a root later sees the frames'
        // new type, and one that becomes a table is filled behind the first round.
        let used = self.pool.lock().used();
        while cost < SLICE {
            if next >= used {
                return (!second).then_some(Withdrawal {
                    second: true,
                    next: 0,
                });
            }
            let spent = if second {
                self.search(hw, claimed, next, cost)
            } else {
                Some(self.pass(next))
            };
            let Some(spent) = spent else { break };
            cost += spent;
            next += 1;
        }
        Some(Withdrawal { second, next })
    }

    /// Waits for the call that holds the lock of a root.
    fn pass(&self, number: u32) -> u32 {
        let cell = self.cell(number);
        if cell.owner.get() == number {
            drop(cell.root.lock());
            return LOCK_COST;
        }
        1
    }

    /// Drops what one table has of the blocks; what that cost, or none if the slice, which has cost
    /// so much, has no room for all of it.
    fn search<H: Hardware>(
        &self,
        hw: &mut H,
        (frames, blocks): (&FrameTable<'_>, &BlockSet),
        number: u32,
        so_far: u32,
    ) -> Option<u32> {
        let cell = self.cell(number);
        loop {
            let owner = cell.owner.get();
            if owner == NONE || owner == number {
                return Some(1);
            }
            let root = self.cell(owner).root.lock();
            if cell.owner.get() != owner {
                continue;
            }
            // A table of an earlier generation is free, or on its way into a tree that has seen
            // the frames' new type.
            if root.process == Process::NONE || cell.birth.get() != root.generation {
                return Some(LOCK_COST);
            }
            let pages = match cell.level.get() {
                3 => true,
                2 => false,
                _ => return Some(LOCK_COST),
            };
            if so_far > BEFORE_TABLE {
                return None;
            }
            // Nothing is read from there any more.
            if blocks.position(cell.source.get()).is_some() {
                cell.source.set(NOWHERE);
            }
            let (value, mask) = blocks.cover();
            let mask = mask & bits::OUTPUT_ADDRESS;
            let may_show = |descriptor: u64| descriptor & mask == value;
            let shows = |descriptor: u64| {
                let output = descriptor & bits::OUTPUT_ADDRESS;
                may_show(descriptor)
                    && bits::is_valid(descriptor)
                    && (pages || bits::is_block(descriptor))
                    // No other claimed frame was ordinary before, so no shadow has one.
                    && frames.get(output) == Some(FrameType::Claimed)
            };
            let table = self.frame(number).as_u64();
            let mut pending = Pending::new(root.process.asid());
            let mut dropped = 0;
            for first in (table..table + PAGE_SIZE).step_by(32) {
                let ([a, b], [c, d]) = (hw.read_two(first), hw.read_two(first + 16));
                // Nearly all of them end here.
                if !(may_show(a) | may_show(b) | may_show(c) | may_show(d)) {
                    continue;
                }
                for (entry, descriptor) in (first..).step_by(8).zip([a, b, c, d]) {
                    if shows(descriptor) {
                        hw.perform(Step::Write { entry, value: 0 });
                        pending.add_all();
                        dropped += 1;
                    }
                }
                if dropped >= DROPPED_PER_SLICE {
                    break;
                }
            }
            pending.complete(hw);
            return (dropped < DROPPED_PER_SLICE).then_some(TABLE_COST);
        }
    }
}
