// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether the contract allows a call, decided from memory and the types of frames alone.
//!
//! Slow and simple where the rules are fast: whether a table is linked is found by looking at
//! every entry of every table.

use donjon_core::address::Level;
use donjon_core::frames::{FrameTable, FrameType as T};

use super::caches::Caches;
use super::memory::{Frames, PAGE};
use super::small;

/// Root slots that stay as they are.
const FIXED_SLOTS: [u64; 15] = [1, 3, 7, 8, 15, 16, 31, 40, 48, 63, 64, 104, 112, 232, 240];

/// A machine, to be asked about.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Memory.
    pub frames: &'a Frames,
    /// Types.
    pub types: &'a FrameTable<'a>,
    /// For the roots of the CPUs.
    pub caches: &'a Caches,
}

const fn bit(descriptor: u64, bit: u32) -> bool {
    descriptor >> bit & 1 == 1
}

const fn bits(descriptor: u64, high: u32, low: u32) -> u64 {
    descriptor >> low & ((1 << (high - low + 1)) - 1)
}

impl View<'_> {
    /// Whether an entry may get a value.
    pub fn write(self, entry: u64, value: u64) -> bool {
        let (table, index) = (entry & !(PAGE - 1), entry / 8 % 512);
        let Some((level, user)) = self.types.get(table).and_then(T::as_table) else {
            return false;
        };
        if !entry.is_multiple_of(8) || table == small::LINEAR_L1 {
            return false;
        }
        let old = self.frames.read(entry);
        let same = value == old;
        if level == Level::Zero && index >= 256 {
            return false;
        }
        if table == small::ROOT {
            let fits = bits(value, 1, 0) == 0b11 && self.child(value, Level::One, false);
            return same || (!bit(old, 0) && fits && !FIXED_SLOTS.contains(&index));
        }
        if !bit(value, 0) || same {
            return true;
        }
        let leaf = level == Level::Three || !bit(value, 1);
        if !leaf {
            let below = level.next().expect("not the last level");
            return !bit(old, 0) && self.child(value, below, user);
        }
        let fits = match level {
            Level::Three => bit(value, 1) && self.page(value, user),
            Level::Two => !user && self.block(value),
            _ => false,
        };
        fits && (!bit(old, 0) || is_gentle(old, value))
    }

    /// Whether a table descriptor names a table that can become one of a level.
    fn child(self, descriptor: u64, level: Level, user: bool) -> bool {
        let unknown = bits(descriptor, 63, 61) | bits(descriptor, 58, 40) | bits(descriptor, 9, 2);
        if unknown != 0 || bit(descriptor, 11) {
            return false;
        }
        let frame = bits(descriptor, 39, 12) << 12;
        let class = T::table(level, user);
        match self.types.get(frame) {
            Some(T::PoolFree) => true,
            Some(found) if found == class && user => {
                !self.is_linked(frame, class) && !self.has_children(frame)
            }
            _ => false,
        }
    }

    fn page(self, leaf: u64, user: bool) -> bool {
        let target = bits(leaf, 39, 12) << 12;
        let plain = !bit(leaf, 5)
            && bits(leaf, 49, 40) == 0
            && !bit(leaf, 52)
            && bits(leaf, 63, 59) == 0
            && bits(leaf, 9, 8) != 0b01
            && bits(leaf, 4, 2) <= 4;
        let not_code = bit(leaf, 53);
        let range = if user {
            bit(leaf, 11)
        } else {
            !bit(leaf, 11) && !bit(leaf, 6) && bit(leaf, 54) && !bit(leaf, 50)
        };
        plain && not_code && range && self.target(target, leaf, user)
    }

    fn target(self, target: u64, leaf: u64, user: bool) -> bool {
        let read_only = bit(leaf, 7) && !bit(leaf, 51);
        let write_back = bits(leaf, 4, 2) <= 1 && bits(leaf, 9, 8) == 0b11;
        match self.types.get(target) {
            Some(T::Ordinary) => true,
            Some(T::Inner | T::Gate | T::Claimed) => false,
            Some(T::KernelText | T::KernelReadOnly) => read_only && write_back,
            Some(_) => !user && read_only && write_back,
            None => !user && is_device(target) && bits(leaf, 4, 2) >= 2,
        }
    }

    fn block(self, leaf: u64) -> bool {
        let start = bits(leaf, 39, 12) << 12;
        let mut pages = (start..start + small::BLOCK).step_by(PAGE as usize);
        let all = |class| {
            pages.all(|page| match class {
                Some(class) => self.types.get(page) == Some(class),
                None => is_device(page),
            })
        };
        let uniform = { all }(self.types.get(start).map(|_| T::Ordinary));
        start.is_multiple_of(small::BLOCK) && uniform && self.page(leaf | 0b10, false)
    }

    /// Whether a frame may go back to its pool.
    pub fn release(self, frame: u64) -> bool {
        let Some(class) = self.types.get(frame).filter(|_| frame.is_multiple_of(PAGE)) else {
            return false;
        };
        if class == T::PoolFree {
            return true;
        }
        if class.as_table().is_none() || frame == small::ROOT || frame == small::LINEAR_L1 {
            return false;
        }
        let current = self.caches.current().any(|(_, root, _)| root == frame);
        !current && !self.has_children(frame) && !self.is_linked(frame, class)
    }

    /// Whether a CPU may load a root with an ASID.
    pub fn switch(self, cpu: usize, root: u64, asid: u64) -> bool {
        let mut others = self.caches.current().filter(|(other, ..)| *other != cpu);
        let clash = others.any(|(_, it, its)| (it == root) != (u64::from(its) == asid));
        let is_root = self.types.get(root) == Some(T::UserTable0) && root.is_multiple_of(PAGE);
        root == 0 || (is_root && (2..1 << 16).contains(&asid) && !clash)
    }

    /// Whether an entry somewhere leads to the table.
    fn is_linked(self, table: u64, class: T) -> bool {
        let Some((level, user)) = class.as_table() else {
            return false;
        };
        let above = |it: &u64| {
            let class = self.types.get(*it).and_then(T::as_table);
            class.is_some_and(|(it, its)| it.next() == Some(level) && its == user)
        };
        let (start, end) = self.types.span();
        let mut tables = (start..end).step_by(PAGE as usize).filter(above);
        tables.any(|it| {
            let mut entries = self.frames.valid(it);
            entries
                .any(|(_, entry)| bits(entry, 1, 0) == 0b11 && bits(entry, 39, 12) << 12 == table)
        })
    }

    fn has_children(self, table: u64) -> bool {
        let class = self.types.get(table).and_then(T::as_table);
        let pages = class.is_none_or(|(level, _)| level == Level::Three);
        let mut entries = self.frames.valid(table);
        !pages && entries.any(|(_, entry)| bits(entry, 1, 0) == 0b11)
    }
}

const fn is_device(page: u64) -> bool {
    small::DEVICE <= page && page < small::DEVICE + 2 * PAGE
}

/// Whether a live entry changes nothing but permissions and what hardware ignores.
fn is_gentle(old: u64, new: u64) -> bool {
    let hard = |it| {
        let output = bits(it, 47, 12);
        (
            output,
            bits(it, 5, 0),
            bits(it, 9, 8),
            bit(it, 11),
            bits(it, 53, 52),
        )
    };
    hard(old) == hard(new)
}
