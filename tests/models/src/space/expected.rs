// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decides whether a call is allowed, from memory and frame types alone.
//!
//! Slow and simple where the rules are fast: whether a table is linked is found by looking at
//! every entry of every table.

use donjon_core::translation::address::Level;
use donjon_core::translation::frames::{FrameTable, FrameType as T};

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
        let Some(level) = self.types.get(table).and_then(T::as_table) else {
            return false;
        };
        if !entry.is_multiple_of(8) || table == small::LINEAR_L1 {
            return false;
        }
        let old = self.frames.read(entry);
        let same = value == old;
        if table == small::ROOT {
            if index >= 256 {
                return false;
            }
            let fits = bits(value, 1, 0) == 0b11 && self.child(value);
            return same || (!bit(old, 0) && fits && !FIXED_SLOTS.contains(&index));
        }
        if !bit(value, 0) || same {
            return true;
        }
        let leaf = level == Level::Three || !bit(value, 1);
        if !leaf {
            return !bit(old, 0) && self.child(value);
        }
        let fits = match level {
            Level::Three => bit(value, 1) && self.page(value),
            Level::Two => self.block(value),
            _ => false,
        };
        fits && (!bit(old, 0) || is_gentle(old, value))
    }

    /// Whether a table descriptor names a table that can become one of a level: a free frame. What
    /// is a table stays where it is, or goes back to the pool first.
    fn child(self, descriptor: u64) -> bool {
        let unknown = bits(descriptor, 63, 61) | bits(descriptor, 58, 40) | bits(descriptor, 9, 2);
        let frame = bits(descriptor, 39, 12) << 12;
        unknown == 0 && !bit(descriptor, 11) && self.types.get(frame) == Some(T::PoolFree)
    }

    fn page(self, leaf: u64) -> bool {
        let target = bits(leaf, 39, 12) << 12;
        let plain = !bit(leaf, 5)
            && bits(leaf, 49, 40) == 0
            && !bit(leaf, 52)
            && bits(leaf, 63, 59) == 0
            && bits(leaf, 9, 8) != 0b01
            && bits(leaf, 4, 2) <= 4
            // What is cached is inner shareable.
            && (bits(leaf, 4, 2) >= 2 || bits(leaf, 9, 8) == 0b11);
        let not_code = bit(leaf, 53);
        let range = !bit(leaf, 11) && !bit(leaf, 6) && bit(leaf, 54) && !bit(leaf, 50);
        plain && not_code && range && self.target(target, leaf)
    }

    fn target(self, target: u64, leaf: u64) -> bool {
        let read_only = bit(leaf, 7) && !bit(leaf, 51);
        let write_back = bits(leaf, 4, 2) <= 1 && bits(leaf, 9, 8) == 0b11;
        match self.types.get(target) {
            Some(T::Ordinary) => true,
            Some(T::Inner | T::Gate | T::Claimed | T::Private) => false,
            Some(_) => read_only && write_back,
            None => is_device(target) && bits(leaf, 4, 2) >= 2,
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
        start.is_multiple_of(small::BLOCK) && uniform && self.page(leaf | 0b10)
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
        let keeps = self.has_children(frame) || self.has_text(frame, class);
        !keeps && !self.is_linked(frame, class)
    }

    /// Whether module text is mapped by the table alone: its frames would be lost.
    fn has_text(self, table: u64, class: T) -> bool {
        let leads_to_text = |(_, entry): (u64, u64)| {
            self.types.get(bits(entry, 47, 12) * PAGE) == Some(T::ModuleText) && !bit(entry, 53)
        };
        class == T::KernelTable3 && self.frames.valid(table).any(leads_to_text)
    }

    /// Whether an entry somewhere leads to the table.
    fn is_linked(self, table: u64, class: T) -> bool {
        let Some(level) = class.as_table() else {
            return false;
        };
        let above = |it: &u64| {
            let class = self.types.get(*it).and_then(T::as_table);
            class.is_some_and(|it| it.next() == Some(level))
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
        let pages = class.is_none_or(|level| level == Level::Three);
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
