// SPDX-License-Identifier: MIT OR Apache-2.0
//! After a fork: what was writable is read again, because Linux has made it read-only.

use donjon_abi::call::Process;
use donjon_abi::layout::{BLOCK_SIZE, PAGE_SIZE};

use super::cell::NONE;

use super::fill::is_ordinary;
use super::path::Tree;
use super::pending::Pending;
use super::{UserTables, leaf};
use crate::checks::Checks;
use crate::translation::address::{Level, UserAddress};
use crate::translation::bits;
use crate::translation::frames::FrameTable;
use crate::translation::{FrameAddress, Hardware, RawDescriptor};

/// What one call may cost, in tables that it passes, of some 35 instructions each; a group of eight
/// entries that is read again costs as much as twenty.
const MOST: u32 = 400;
const GROUP_COST: u32 = 20;

impl<C: Checks> UserTables<'_, C> {
    /// Reads what is writable again from where it was read before. Entries that are read-only in
    /// Linux's table become read-only. Entries that changed in any other way are dropped, and so
    /// are those whose source is no memory of Linux's any more. `first` begins at the beginning;
    /// without it the call goes on where the last one ended. True when it came to the end.
    pub fn refresh<H: Hardware>(
        &self,
        hw: &mut H,
        frames: &FrameTable<'_>,
        process: Process,
        first: bool,
    ) -> bool {
        let Some(mut tree) = self.lock_of(process) else {
            return true;
        };
        if first {
            tree.root.cursor = tree.root.first;
            tree.root.left = u64::MAX;
        }
        let mut pending = Pending::new(process.asid());
        let mut cost = 0;
        while cost < MOST
            && let Some(cell) = self.cells.get(tree.root.cursor as usize)
        {
            cost += 1;
            let groups = cell.writable.get() & tree.root.left;
            if groups == 0 {
                tree.root.left = 0;
            } else if cell.level.get() == u32::from(Level::Three.number()) {
                self.read_again::<H, true>(hw, frames, &mut tree, &mut pending, &mut cost);
            } else {
                self.read_again::<H, false>(hw, frames, &mut tree, &mut pending, &mut cost);
            }
            if tree.root.left == 0 {
                tree.root.cursor = cell.next.get();
                tree.root.left = u64::MAX;
            }
        }
        pending.complete(hw);
        tree.root.cursor == NONE
    }

    /// Reads the writable groups of the table that the cursor is at, as far as one call may go.
    /// What is filled meanwhile was read behind Linux's change. The table has pages, or it has
    /// blocks.
    fn read_again<H: Hardware, const PAGES: bool>(
        &self,
        hw: &mut H,
        frames: &FrameTable<'_>,
        tree: &mut Tree<'_>,
        pending: &mut Pending,
        cost: &mut u32,
    ) {
        let table = tree.root.cursor;
        let cell = self.cell(table);
        let size = if PAGES { PAGE_SIZE } else { BLOCK_SIZE };
        let source = FrameAddress::new(cell.source.get());
        let source = source.filter(|it| is_ordinary::<C>(frames, *it).is_ok());
        let entries = self.frame(table);
        let va = UserAddress::new(cell.va.get());
        let mut groups = cell.writable.get() & tree.root.left;
        let mut writable = cell.writable.get() & !groups;
        while groups != 0 && *cost < MOST {
            *cost += GROUP_COST;
            let group = groups & groups.wrapping_neg();
            let first = u64::from(groups.trailing_zeros()) * 8;
            groups &= groups - 1;
            for place in 0..8 {
                let index = first + place;
                let entry = entries.entry(index as usize);
                let old = entry.read(hw).0;
                let shape = if PAGES { bits::VALID } else { bits::TABLE };
                if old & (shape | bits::READ_ONLY) != bits::VALID {
                    continue;
                }
                let descriptor = match source {
                    Some(source) => source.entry(index as usize).read(hw),
                    None => RawDescriptor::INVALID,
                };
                let new = kept::<C>(descriptor.0, old);
                if new != 0 && new & bits::READ_ONLY == 0 {
                    writable |= group;
                }
                if new != old {
                    entry.write(hw, RawDescriptor(new));
                    match va {
                        Some(va) => pending.add(va.after(index * size / PAGE_SIZE)),
                        None => pending.add_all(),
                    }
                }
            }
        }
        cell.writable.set(writable | groups);
        tree.root.left = groups;
    }
}

/// What is left of a writable entry, by the descriptor that stands in Linux's table now: the entry,
/// the entry read-only, or nothing. A descriptor that differs in anything else is another mapping's
/// business, which a fault takes over. So an entry only loses, and what was checked when it was
/// filled need not be checked again: `withdraw` takes entries out whose frame stops being ordinary.
#[inline(always)]
fn kept<C: Checks>(descriptor: u64, old: u64) -> u64 {
    let again = leaf::shadow_of::<C>(descriptor);
    let may_change = if C::REFRESH.is_made() {
        bits::READ_ONLY
    } else {
        bits::LIVE
    };
    if (old ^ again) & !may_change == 0 {
        again
    } else {
        0
    }
}
