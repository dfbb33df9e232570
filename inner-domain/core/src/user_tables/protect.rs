// SPDX-License-Identifier: MIT OR Apache-2.0
//! After a fork that made all that was writable read-only: entries lose the right to be written
//! where they stand, and none of Linux's is read.

use donjon_abi::call::Process;

use super::UserTables;
use super::cell::NONE;
use crate::checks::Checks;
use crate::translation::address::Level;
use crate::translation::{FrameAddress, Hardware, Step, bits, flush};

/// What one call may cost, in tables that it passes, of some 35 instructions each.
const MOST: u32 = 400;
/// What a group of eight entries costs, in these units.
const GROUP_COST: u32 = 3;

impl<C: Checks> UserTables<'_, C> {
    /// Makes read-only what is writable: pages and blocks. A process for which that is too much
    /// faults, and a `MAP` takes over what Linux has. `first` begins at the beginning; without it
    /// the call goes on where the last one ended. True when it came to the end.
    pub fn protect<H: Hardware>(&self, hw: &mut H, process: Process, first: bool) -> bool {
        let Some(mut tree) = self.lock_of(process) else {
            return true;
        };
        if first {
            tree.root.cursor = tree.root.first;
        }
        let mut cost = 0;
        let mut any = false;
        while cost < MOST
            && let Some(cell) = self.cells.get(tree.root.cursor as usize)
        {
            let groups = cell.writable.get();
            cost += 1 + GROUP_COST * groups.count_ones();
            if groups != 0 {
                any = true;
                let table = self.frame(tree.root.cursor);
                if cell.level.get() == u32::from(Level::Three.number()) {
                    protect_groups(hw, table, groups, page);
                } else {
                    protect_groups(hw, table, groups, block);
                }
                cell.writable.set(0);
            }
            tree.root.cursor = cell.next.get();
        }
        tree.root.left = u64::MAX;
        if any {
            flush::asid(hw, process.asid());
        }
        tree.root.cursor == NONE
    }
}

/// Changes the entries of some groups of a table, two at a time.
#[inline(always)]
fn protect_groups<H: Hardware>(
    hw: &mut H,
    table: FrameAddress,
    mut groups: u64,
    change: impl Fn(u64) -> u64,
) {
    while groups != 0 {
        let group = table.as_u64() + u64::from(groups.trailing_zeros()) * 64;
        groups &= groups - 1;
        for entry in [group, group + 16, group + 32, group + 48] {
            let [low, high] = hw.read_two(entry).map(&change);
            hw.perform(Step::Write { entry, value: low });
            let entry = entry + 8;
            hw.perform(Step::Write { entry, value: high });
        }
    }
}

/// The entry of a table of level 3, read-only if it is valid. An invalid one is zero.
#[inline(always)]
const fn page(descriptor: u64) -> u64 {
    if bits::is_valid(descriptor) {
        descriptor | bits::READ_ONLY
    } else {
        descriptor
    }
}

/// The entry of a table of level 2, read-only if it is a block.
#[inline(always)]
const fn block(descriptor: u64) -> u64 {
    if bits::is_valid(descriptor) && bits::is_block(descriptor) {
        descriptor | bits::READ_ONLY
    } else {
        descriptor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leaf_loses_one_right_and_nothing_else() {
        for leaf in [0x701 | 1 << 54, 0x703 | 1 << 53, 0x781] {
            assert_eq!(page(leaf), leaf | bits::READ_ONLY);
        }
        assert_eq!(page(0), 0);
        assert_eq!(block(0x701), 0x781);
        // A table's bit 7 means nothing, and stays.
        assert_eq!(block(0x703), 0x703);
        assert_eq!(block(0), 0);
    }
}
