// SPDX-License-Identifier: MIT OR Apache-2.0
//! From an ASID to its tree, and from an address to its tables.

use core::sync::atomic::{Ordering, fence};

use donjon_abi::call::{Process, Reason};
use spin::mutex::MutexGuard;

use super::cell::{NONE, NOWHERE, Root};
use super::pending::break_entry;
use super::{KEPT, UserTables};
use crate::checks::Checks;
use crate::report::waits::{TREES, Waiting};
use crate::translation::address::{Level, UserAddress};
use crate::translation::bits;
use crate::translation::{EntryAddress, Hardware, RawDescriptor, Step};

/// A tree whose lock is held.
pub(super) struct Tree<'s> {
    pub root: MutexGuard<'s, Root, Waiting<TREES>>,
    /// The root's page.
    pub number: u32,
}

/// What a walk for an address came to.
pub(super) enum Found {
    /// A table of level 3.
    Table(u32),
    /// A block of level 2: its entry.
    Block(EntryAddress),
    /// Nothing; no address below this one, from the one that was asked for, is mapped.
    Nothing(u64),
}

impl<C: Checks> UserTables<'_, C> {
    /// The tree of an ASID, if it has one, of any process.
    pub(super) fn lock(&self, asid: u16) -> Option<Tree<'_>> {
        let entry = self.asids.get(usize::from(asid))?;
        loop {
            let mut value = entry.load(Ordering::Acquire);
            if value == 0 {
                // What Linux stored before the call comes before this look: the call that makes the
                // tree afterwards reads that.
                fence(Ordering::SeqCst);
                value = entry.load(Ordering::Acquire);
            }
            let number = value.checked_sub(1)?;
            let root = self.cell(number).root.lock();
            // It may have been dropped meanwhile; under its lock that cannot happen.
            if root.process.asid() == asid {
                return Some(Tree { root, number });
            }
        }
    }

    /// The tree of an ASID, if it is this process's.
    pub(super) fn lock_of(&self, process: Process) -> Option<Tree<'_>> {
        self.lock(process.asid())
            .filter(|tree| tree.root.process == process)
    }

    /// Locks the tree of a process if the table of ASIDs already leads to it. None: take the slow
    /// path, as the process may have a tree nevertheless.
    #[inline(always)]
    pub(super) fn lock_fast(&self, process: Process) -> Option<Tree<'_>> {
        let entry = self.asids.get(usize::from(process.asid()))?;
        let number = entry.load(Ordering::Acquire).wrapping_sub(1);
        // No cell has the number that comes of 0.
        let root = self.cells.get(number as usize)?.root.lock();
        (root.process == process).then_some(Tree { root, number })
    }

    /// Where an address is translated.
    #[inline(never)]
    pub(super) fn find<H: Hardware>(&self, hw: &H, tree: &mut Tree<'_>, va: UserAddress) -> Found {
        self.find_fast(hw, tree, va)
    }

    /// Finds where an address is translated, inlined for the one place that cannot afford a call;
    /// [`find`](Self::find) is for all others.
    #[inline(always)]
    pub(super) fn find_fast<H: Hardware>(
        &self,
        hw: &H,
        tree: &mut Tree<'_>,
        va: UserAddress,
    ) -> Found {
        if let Some(table) = recent(tree, va) {
            return Found::Table(table);
        }
        let mut table = tree.number;
        for level in [Level::Zero, Level::One, Level::Two] {
            let entry = self.entry(table, va, level);
            let descriptor = entry.read(hw);
            if !descriptor.is_valid() {
                return Found::Nothing(va.end_of(level));
            }
            if descriptor.is_block() {
                return Found::Block(entry);
            }
            table = self.number(descriptor.output());
        }
        remember(tree, va, table);
        Found::Table(table)
    }

    /// The table of level 3 for an address, with new tables where there are none.
    ///
    /// # Errors
    ///
    /// [`Reason::NoRoom`] when there is no page for a table.
    pub(super) fn find_or_make<H: Hardware>(
        &self,
        hw: &mut H,
        tree: &mut Tree<'_>,
        va: UserAddress,
    ) -> Result<u32, Reason> {
        if let Some(table) = recent(tree, va) {
            return Ok(table);
        }
        let levels = [Level::Zero, Level::One, Level::Two];
        let table = self.make_or_begin_anew(hw, tree, va, &levels)?;
        remember(tree, va, table);
        Ok(table)
    }

    /// The table of level 2 for an address, with new tables above where there are none.
    ///
    /// # Errors
    ///
    /// Those of [`find_or_make`](Self::find_or_make).
    pub(super) fn find_or_make_above<H: Hardware>(
        &self,
        hw: &mut H,
        tree: &mut Tree<'_>,
        va: UserAddress,
    ) -> Result<u32, Reason> {
        self.make_or_begin_anew(hw, tree, va, &[Level::Zero, Level::One])
    }

    /// Makes tables for an address. With no other tree to drop, a tree that has many tables gives
    /// up its own: some of them, or all that it has.
    #[inline(never)]
    fn make_or_begin_anew<H: Hardware>(
        &self,
        hw: &mut H,
        tree: &mut Tree<'_>,
        va: UserAddress,
        levels: &[Level],
    ) -> Result<u32, Reason> {
        let made = self.make(hw, tree, va, levels);
        if made != Err(Reason::NoRoom) || tree.root.count <= KEPT {
            return made;
        }
        if self.thin_out(hw, tree) {
            let made = self.make(hw, tree, va, levels);
            if made != Err(Reason::NoRoom) {
                return made;
            }
        }
        self.empty(hw, tree);
        self.make(hw, tree, va, levels)
    }

    fn make<H: Hardware>(
        &self,
        hw: &mut H,
        tree: &mut Tree<'_>,
        va: UserAddress,
        levels: &[Level],
    ) -> Result<u32, Reason> {
        let mut table = tree.number;
        for &level in levels {
            let entry = self.entry(table, va, level);
            let descriptor = entry.read(hw);
            table = if descriptor.is_table() {
                self.number(descriptor.output())
            } else {
                if descriptor.is_valid() {
                    break_entry(hw, tree.root.process.asid(), entry, va);
                }
                let new = self.allocate_for(hw, tree)?;
                let above = self.cell(table);
                above.valid.set(above.valid.get() | group_of(va, level));
                self.link(hw, tree, new, entry, level, va);
                new
            };
        }
        Ok(table)
    }

    /// A page for a table of this tree. Other trees are dropped for it first.
    fn allocate_for<H: Hardware>(&self, hw: &mut H, tree: &Tree<'_>) -> Result<u32, Reason> {
        let number = self.allocate(hw).ok_or(Reason::NoRoom)?;
        let cell = self.cell(number);
        cell.owner.set(tree.number);
        cell.birth.set(tree.root.generation);
        Ok(number)
    }

    /// Links a new table, which is zero.
    fn link<H: Hardware>(
        &self,
        hw: &mut H,
        tree: &mut Tree<'_>,
        new: u32,
        entry: EntryAddress,
        above: Level,
        va: UserAddress,
    ) {
        let cell = self.cell(new);
        let first = tree.root.first;
        cell.next.set(first);
        cell.previous.set(NONE);
        cell.level.set(u32::from(above.number()) + 1);
        cell.parent.set(entry.as_u64());
        cell.va.set(va.first_of(above).as_u64());
        cell.writable.set(0);
        cell.source.set(NOWHERE);
        match self.cells.get(first as usize) {
            Some(next) => next.previous.set(new),
            None => tree.root.last = new,
        }
        tree.root.first = new;
        tree.root.count += 1;
        // No walk may find the table before its zeros.
        hw.perform(Step::BarrierStore);
        let value = self.frame(new).as_u64() | bits::TABLE | bits::NO_EL1_BELOW;
        entry.write(hw, RawDescriptor(value));
    }

    /// Takes a table of level 3 out of the tree and its list. The caller invalidates the ASID
    /// before the page is used again.
    pub(super) fn unlink<H: Hardware>(&self, hw: &mut H, tree: &mut Tree<'_>, table: u32) {
        let cell = self.cell(table);
        let (next, previous) = (cell.next.get(), cell.previous.get());
        match self.cells.get(next as usize) {
            Some(it) => it.previous.set(previous),
            None => tree.root.last = previous,
        }
        match self.cells.get(previous as usize) {
            Some(it) => it.next.set(next),
            None => tree.root.first = next,
        }
        tree.root.count -= 1;
        if tree.root.cursor == table {
            tree.root.cursor = next;
            tree.root.left = u64::MAX;
        }
        if tree.root.recent == table {
            tree.root.recent_va = NOWHERE;
        }
        // It keeps its owner, so that a search for its frames waits for the lock, under which the
        // ASID is invalidated.
        cell.birth.set(0);
        let entry = cell.parent.get();
        hw.perform(Step::Write { entry, value: 0 });
    }

    /// The entry of a table for an address.
    pub(super) const fn entry(&self, table: u32, va: UserAddress, level: Level) -> EntryAddress {
        self.frame(table).entry(va.index(level))
    }
}

#[inline(always)]
fn recent(tree: &Tree<'_>, va: UserAddress) -> Option<u32> {
    let same = tree.root.recent_va == va.first_of(Level::Two).as_u64();
    same.then_some(tree.root.recent)
}

fn remember(tree: &mut Tree<'_>, va: UserAddress, table: u32) {
    tree.root.recent = table;
    tree.root.recent_va = va.first_of(Level::Two).as_u64();
}

/// The bit of the eight entries that the one for `va` is among.
pub(super) const fn group_of(va: UserAddress, level: Level) -> u64 {
    1 << (va.index(level) / 8)
}

/// The bits of the entries from index `first` to before `end`, which are not none.
pub(super) const fn groups_of(first: u64, end: u64) -> u64 {
    u64::MAX << (first / 8) & u64::MAX >> (63 - (end - 1) / 8)
}
