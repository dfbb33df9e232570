// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shadows of a range of addresses are dropped, as Linux drops them from the TLB.

use donjon_abi::call::Process;
use donjon_abi::layout::PAGE_SIZE;

use super::free_list::Chain;
use super::path::{Found, Tree, groups_of};
use super::pending::Pending;
use super::{USER_END, UserTables};
use crate::checks::Checks;
use crate::translation::address::{Level, UserAddress};
use crate::translation::{Hardware, RawDescriptor};

/// Effort of one call, in looks at a table or at a group of eight entries, of at most 130
/// instructions each.
const MOST: u32 = 96;

/// Groups of eight entries of one table from which on the ASID is invalidated, and not pages.
const MANY: u32 = 8;

/// Bytes that a table of level 3 translates.
const TABLE_SPAN: u64 = Level::Two.size();

impl<C: Checks> UserTables<'_, C> {
    /// Drops the shadows of `start..end` and invalidates. How far it came: less than `end` if the
    /// rest is another call.
    pub fn flush<H: Hardware>(&self, hw: &mut H, process: Process, start: u64, end: u64) -> u64 {
        let Some(mut tree) = self.lock_of(process) else {
            return end;
        };
        let mut flush = Flush {
            pending: Pending::new(process.asid()),
            chain: None,
            cost: 0,
        };
        let last = end.min(USER_END);
        let mut va = start & !(PAGE_SIZE - 1);
        while va < last
            && flush.cost < MOST
            && let Some(from) = UserAddress::new(va)
        {
            va = self.flush_some(hw, &mut tree, &mut flush, from, last);
        }
        flush.pending.complete(hw);
        if let Some(chain) = flush.chain {
            self.give_back(chain);
        }
        if va < last { va } else { end }
    }

    /// Drops what one table translates; where to go on.
    fn flush_some<H: Hardware>(
        &self,
        hw: &mut H,
        tree: &mut Tree<'_>,
        flush: &mut Flush,
        va: UserAddress,
        end: u64,
    ) -> u64 {
        flush.cost += 1;
        let next = va.end_of(Level::Two);
        match self.find(hw, tree, va) {
            Found::Nothing(next) => next,
            Found::Block(entry) => {
                entry.write(hw, RawDescriptor::INVALID);
                flush.pending.add(va);
                next
            }
            Found::Table(table) if va.is_aligned(TABLE_SPAN) && next <= end => {
                self.unlink(hw, tree, table);
                flush.pending.add_all();
                flush.chain = Some(Chain::with(flush.chain, self.cells, table));
                next
            }
            Found::Table(table) => {
                let until = next.min(end);
                self.flush_pages(hw, flush, table, va, until);
                until
            }
        }
    }

    /// Drops pages of one table, all of them within it.
    fn flush_pages<H: Hardware>(
        &self,
        hw: &mut H,
        flush: &mut Flush,
        table: u32,
        start: UserAddress,
        end: u64,
    ) {
        let cell = self.cell(table);
        let base = start.first_of(Level::Two);
        let first = start.index(Level::Three) as u64;
        let last = (end - base.as_u64()).div_ceil(PAGE_SIZE);
        let mut groups = cell.valid.get() & groups_of(first, last);
        // More than this are invalidated together, so which there were does not matter.
        let many = groups.count_ones() > MANY;
        if many {
            flush.pending.add_all();
        }
        while groups != 0 {
            flush.cost += 1;
            let group = u64::from(groups.trailing_zeros());
            groups &= groups - 1;
            let from = first.max(group * 8);
            let until = last.min(group * 8 + 8);
            let whole = until - from == 8;
            if whole {
                cell.valid.set(cell.valid.get() & !(1 << group));
                cell.writable.set(cell.writable.get() & !(1 << group));
            }
            let entries = self.frame(table);
            if whole && many {
                for index in group * 8..group * 8 + 8 {
                    entries
                        .entry(index as usize)
                        .write(hw, RawDescriptor::INVALID);
                }
                continue;
            }
            for index in from..until {
                let entry = entries.entry(index as usize);
                if entry.read(hw) != RawDescriptor::INVALID {
                    entry.write(hw, RawDescriptor::INVALID);
                    flush.pending.add(base.after(index));
                }
            }
        }
    }
}

struct Flush {
    pending: Pending,
    /// Tables that are unlinked and not yet invalidated.
    chain: Option<Chain>,
    cost: u32,
}
