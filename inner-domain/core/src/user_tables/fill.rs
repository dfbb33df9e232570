// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shadows are filled from Linux's tables.

use donjon_abi::call::{MAP_MAX, Process, Reason};

use super::path::{Found, Tree, group_of, groups_of};
use super::pending::{Pending, break_entry, replace, replace_now};
use super::{UserTables, leaf};
use crate::checks::Checks;
use crate::translation::address::{ENTRIES, Level, UserAddress};
use crate::translation::frames::{FrameTable, FrameType};
use crate::translation::{EntryAddress, FrameAddress, Hardware, RawDescriptor, Step, bits, flush};

mod without;

/// Most descriptors of one call.
const MOST: u64 = MAP_MAX as u64;

/// Descriptors to take over.
#[derive(Clone, Copy, Debug)]
pub struct Fill {
    /// The first address that the descriptors translate.
    pub va: u64,
    /// Where the first one stands, at the same place in a table as its shadow.
    pub source: u64,
    /// How many there are, all in one table.
    pub count: u64,
}

/// Descriptors to take over, at addresses that are possible.
#[derive(Clone, Copy)]
struct Descriptors {
    va: UserAddress,
    source: EntryAddress,
    count: u64,
}

impl Fill {
    /// The first address and where its descriptor of `level` stands, if that is the place in a
    /// table where its shadow will stand.
    #[inline(always)]
    fn place(self, level: Level) -> Option<(UserAddress, EntryAddress)> {
        let va = UserAddress::new(self.va).filter(|it| it.is_aligned(level.size()))?;
        let source = EntryAddress::with_index(self.source, va.index(level))?;
        Some((va, source))
    }

    fn check(self) -> Result<Descriptors, Reason> {
        let count = self.count;
        let (va, source) = self.place(Level::Three).ok_or(Reason::BadEntry)?;
        // In this order: the sum of an index and any number would overflow.
        let is_few = count != 0 && count <= MOST;
        if !is_few || va.index(Level::Three) as u64 + count > ENTRIES as u64 {
            return Err(Reason::BadEntry);
        }
        Ok(Descriptors { va, source, count })
    }
}

/// Checks that descriptors may be read in a table: Linux's own memory, so that nothing is learnt
/// from what becomes of them that Linux could not read. The caller holds a tree's lock, for which
/// `withdraw` waits once after a type has changed.
pub(super) fn is_ordinary<C: Checks>(
    frames: &FrameTable<'_>,
    table: FrameAddress,
) -> Result<(), Reason> {
    match frames.get(table.as_u64()) {
        Some(FrameType::Ordinary) => Ok(()),
        Some(_) if !C::SOURCE.is_made() => Ok(()),
        _ => Err(Reason::WrongFrame),
    }
}

impl<C: Checks> UserTables<'_, C> {
    /// Takes over page descriptors, each read once. One that is invalid or refused leaves an
    /// invalid entry. Gives the index of the first that was refused, and why. Nothing happens
    /// without a tree: there is nothing that could be filled, and nothing to drop.
    ///
    /// # Errors
    ///
    /// [`Reason::BadEntry`] and [`Reason::WrongFrame`] for what cannot be descriptors,
    /// [`Reason::NoRoom`] when the pages of all other trees are in use.
    pub fn map<H: Hardware>(
        &self,
        hw: &mut H,
        frames: &FrameTable<'_>,
        process: Process,
        fill: Fill,
    ) -> Result<Option<(u64, Reason)>, Reason> {
        let Fill { va, source, count } = fill;
        let done = if count == 1 {
            self.map_page_fast(hw, frames, process, va, source)
        } else {
            self.map_pages_fast(hw, frames, process, fill)
        };
        if done {
            return Ok(None);
        }
        self.map_slow(hw, frames, process, fill)
    }

    /// Maps one page on the fast path, which takes no new table and no refusal: what nearly every
    /// fault asks for. False if there is more to do; then nothing happened.
    #[inline(always)]
    pub fn map_page_fast<H: Hardware>(
        &self,
        hw: &mut H,
        frames: &FrameTable<'_>,
        process: Process,
        va: u64,
        source: u64,
    ) -> bool {
        let count = 1;
        let Some((va, source)) = Fill { va, source, count }.place(Level::Three) else {
            return false;
        };
        let Some(mut tree) = self.lock_fast(process) else {
            return false;
        };
        let Found::Table(table) = self.find_fast(hw, &mut tree, va) else {
            return false;
        };
        // Once it was ordinary, and if it were to stop, `withdraw` would have come here first.
        let cell = self.cell(table);
        if cell.source.get() != source.table().as_u64() {
            return false;
        }
        let descriptor = source.read(hw).0;
        if !leaf::is_common(frames, descriptor) {
            return false;
        }
        let mut new = leaf::shadow_of_common::<C>(descriptor);
        if !C::ONCE.is_made() {
            new = leaf::shadow_of::<C>(without::read_again(hw, source, descriptor));
        }
        let entry = self.entry(table, va, Level::Three);
        let old = entry.read(hw).0;
        if old != 0 && old != new {
            replace_now(hw, process.asid(), (entry, va), old, new);
        } else {
            entry.write(hw, RawDescriptor(new));
        }
        let group = group_of(va, Level::Three);
        cell.valid.set(cell.valid.get() | group);
        if new & bits::READ_ONLY == 0 {
            cell.writable.set(cell.writable.get() | group);
        }
        true
    }

    /// Maps several pages on the fast path, if each entry is empty or stays equal. False if there
    /// is more to do; then a part of them may be taken over.
    #[inline(always)]
    pub fn map_pages_fast<H: Hardware>(
        &self,
        hw: &mut H,
        frames: &FrameTable<'_>,
        process: Process,
        fill: Fill,
    ) -> bool {
        let Ok(fill) = fill.check() else {
            return false;
        };
        let Some(mut tree) = self.lock_fast(process) else {
            return false;
        };
        let Found::Table(table) = self.find_fast(hw, &mut tree, fill.va) else {
            return false;
        };
        let cell = self.cell(table);
        // As for one page.
        if cell.source.get() != fill.source.table().as_u64() {
            return false;
        }
        self.fill_fast(hw, frames, table, fill) == fill.count
    }

    /// [`map`](Self::map) for what [`map_page_fast`](Self::map_page_fast) and
    /// [`map_pages_fast`](Self::map_pages_fast) have left.
    ///
    /// # Errors
    ///
    /// Those of [`map`](Self::map).
    #[inline(never)]
    pub fn map_slow<H: Hardware>(
        &self,
        hw: &mut H,
        frames: &FrameTable<'_>,
        process: Process,
        fill: Fill,
    ) -> Result<Option<(u64, Reason)>, Reason> {
        let fill = fill.check()?;
        let Some(mut tree) = self.lock_of(process) else {
            return Ok(None);
        };
        is_ordinary::<C>(frames, fill.source.table())?;
        let Some(table) = self.table_for(hw, &mut tree, fill)? else {
            return Ok(None);
        };
        let cell = self.cell(table);
        cell.source.set(fill.source.table().as_u64());
        Ok(self.fill_slow(hw, frames, process.asid(), table, fill))
    }

    /// Takes descriptors over as long as they are a user's of ordinary memory, or invalid, and what
    /// is in the shadow is the same or nothing. How many that were.
    #[inline(always)]
    fn fill_fast<H: Hardware>(
        &self,
        hw: &mut H,
        frames: &FrameTable<'_>,
        table: u32,
        fill: Descriptors,
    ) -> u64 {
        // In registers, whatever is stored meanwhile.
        let frames = *frames;
        let mut permissions = bits::READ_ONLY;
        let start = fill.source.as_u64();
        let mut source = start;
        let end = source + fill.count * 8;
        // From a descriptor to its shadow.
        let shift = self
            .entry(table, fill.va, Level::Three)
            .as_u64()
            .wrapping_sub(source);
        // Most are common and new: two at a time.
        let mut pairs = if C::ONCE.is_made() { fill.count / 2 } else { 0 };
        while pairs != 0 {
            let entry = source.wrapping_add(shift);
            let [low, high] = hw.read_two(entry);
            if low | high != 0 {
                break;
            }
            let two = hw.read_two(source);
            if !leaf::are_common(&frames, two) {
                break;
            }
            let [low, high] = two.map(leaf::shadow_of_common::<C>);
            permissions &= low & high;
            hw.perform(Step::Write { entry, value: low });
            let entry = entry + 8;
            hw.perform(Step::Write { entry, value: high });
            source += 16;
            pairs -= 1;
        }
        while source < end {
            let entry = source.wrapping_add(shift);
            let descriptor = hw.read(source);
            if leaf::is_common(&frames, descriptor) {
                let mut new = leaf::shadow_of_common::<C>(descriptor);
                if !C::ONCE.is_made() {
                    let source = fill.source.after(((source - start) / 8) as usize);
                    new = leaf::shadow_of::<C>(without::read_again(hw, source, descriptor));
                }
                permissions &= new;
                let old = hw.read(entry);
                if old == 0 {
                    hw.perform(Step::Write { entry, value: new });
                } else if old != new {
                    break;
                }
            } else if bits::is_valid(descriptor) || hw.read(entry) != 0 {
                break;
            }
            source += 8;
        }
        self.note_filled(table, fill, permissions & bits::READ_ONLY == 0);
        (source - start) / 8
    }

    /// Notes that entries were filled: some of them writable, or none.
    #[inline(always)]
    fn note_filled(&self, table: u32, fill: Descriptors, writable: bool) {
        let cell = self.cell(table);
        let index = fill.va.index(Level::Three) as u64;
        let groups = groups_of(index, index + fill.count);
        cell.valid.set(cell.valid.get() | groups);
        if writable {
            cell.writable.set(cell.writable.get() | groups);
        }
    }

    /// Takes any descriptors over.
    fn fill_slow<H: Hardware>(
        &self,
        hw: &mut H,
        frames: &FrameTable<'_>,
        asid: u16,
        table: u32,
        fill: Descriptors,
    ) -> Option<(u64, Reason)> {
        let mut pending = Pending::new(asid);
        let mut refused = None;
        let mut writable = false;
        let first = self.entry(table, fill.va, Level::Three);
        for number in self.fill_fast(hw, frames, table, fill)..fill.count {
            let source = fill.source.after(number as usize);
            let descriptor = source.read(hw).0;
            let mut new = 0;
            if bits::is_valid(descriptor) {
                match leaf::page::<C>(frames, descriptor) {
                    Ok(_) if !C::ONCE.is_made() => {
                        new = leaf::shadow_of::<C>(without::read_again(hw, source, descriptor));
                    }
                    Ok(shadow) => new = shadow,
                    Err(reason) => refused = refused.or(Some((number, reason))),
                }
            }
            let entry = first.after(number as usize);
            let old = entry.read(hw).0;
            if old == new {
                continue;
            }
            let va = fill.va.after(number);
            replace(hw, &mut pending, (entry, va), old, new);
            writable |= bits::is_valid(new) && new & bits::READ_ONLY == 0;
        }
        self.note_filled(table, fill, writable);
        pending.complete(hw);
        refused
    }

    /// The table of level 3 that is to be filled. None if there is none and nothing to be filled
    /// in.
    fn table_for<H: Hardware>(
        &self,
        hw: &mut H,
        tree: &mut Tree<'_>,
        fill: Descriptors,
    ) -> Result<Option<u32>, Reason> {
        match self.find(hw, tree, fill.va) {
            Found::Table(table) => return Ok(Some(table)),
            Found::Block(entry) => break_entry(hw, tree.root.process.asid(), entry, fill.va),
            Found::Nothing(_) => {}
        }
        // What is decided about later is what is read then.
        let mut sources = (0..fill.count).map(|number| fill.source.after(number as usize));
        if !sources.any(|source| source.read(hw).is_valid()) {
            return Ok(None);
        }
        self.find_or_make(hw, tree, fill.va).map(Some)
    }

    /// Takes over the block descriptor of level 2 at `source`, read once, for the block at `va`,
    /// which stands at the same place in a table as its shadow. Gives the reason if it was refused.
    ///
    /// # Errors
    ///
    /// Those of [`map`](Self::map).
    pub fn map_block<H: Hardware>(
        &self,
        hw: &mut H,
        frames: &FrameTable<'_>,
        process: Process,
        va: u64,
        source: u64,
    ) -> Result<Option<Reason>, Reason> {
        let count = 1;
        let place = Fill { va, source, count }.place(Level::Two);
        let (va, source) = place.ok_or(Reason::BadEntry)?;
        let Some(mut tree) = self.lock_of(process) else {
            return Ok(None);
        };
        is_ordinary::<C>(frames, source.table())?;
        let asid = process.asid();
        let descriptor = source.read(hw).0;
        // A block that was split meanwhile is a table now, and no block.
        let shadow = if bits::is_block(descriptor) {
            leaf::block::<C>(frames, descriptor)
        } else {
            Ok(0)
        };
        let new = shadow.unwrap_or(0);
        if let Found::Table(table) = self.find(hw, &mut tree, va) {
            self.unlink(hw, &mut tree, table);
            flush::asid(hw, asid);
            self.give_back_one(table);
        }
        if bits::is_valid(new) {
            let table = self.find_or_make_above(hw, &mut tree, va)?;
            let entry = self.entry(table, va, Level::Two);
            let old = entry.read(hw).0;
            let mut pending = Pending::new(asid);
            if old != new {
                replace(hw, &mut pending, (entry, va), old, new);
            }
            pending.complete(hw);
            let cell = self.cell(table);
            cell.source.set(source.table().as_u64());
            cell.valid.set(cell.valid.get() | group_of(va, Level::Two));
            if new & bits::READ_ONLY == 0 {
                cell.writable
                    .set(cell.writable.get() | group_of(va, Level::Two));
            }
        } else if let Found::Block(entry) = self.find(hw, &mut tree, va) {
            break_entry(hw, asid, entry, va);
        }
        Ok(shadow.err())
    }
}
