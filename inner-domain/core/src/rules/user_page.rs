// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages of users: the path that the cost of everything depends on.
//!
//! Writes come in runs through one table. What the frame table says about the last table is kept,
//! so that the next entry of it needs neither the frame table nor, most of the time, the
//! metadata.

use donjon_abi::call::Reason;
use donjon_abi::layout::PAGE_SIZE;

use super::checks::Checks;
use super::links::Place;
use super::step::{Hardware, Step};
use super::{Rules, bits, table_index};
use crate::address::{ENTRIES, Level};
use crate::frames::FrameType;

/// Bits of the most common mapping of all, a user's ordinary memory: with these the rest of the
/// descriptor may be anything that [`bits::LIVE`] has.
const COMMON: u64 = bits::TABLE | bits::INNER_SHAREABLE | bits::NON_GLOBAL | bits::NO_EL1;
/// Where the common mapping may not differ from [`COMMON`].
const NOT_COMMON: u64 = !(bits::LIVE | bits::ADDRESS);

/// The level 3 table of a user that was written last.
#[derive(Clone, Copy)]
pub(super) struct LastTable {
    /// Its physical address.
    base: u64,
    /// [`ENTRIES`], or 0 when there is none.
    limit: u64,
    /// Its number among the pool frames.
    table: usize,
    /// No entry of it is stale. False is always right.
    pub quiet: bool,
}

impl LastTable {
    /// No table.
    pub const NONE: Self = Self {
        base: 0,
        limit: 0,
        table: usize::MAX,
        quiet: false,
    };

    /// Index of an entry of this table; [`limit`](Self::limit) or more for any other address,
    /// also for one within the table that is no multiple of 8: its low bits end up on top.
    #[inline(always)]
    const fn index(&self, entry: u64) -> u64 {
        (entry ^ self.base).rotate_right(3)
    }
}

impl<C: Checks> Rules<'_, C> {
    /// Replaces the entry at physical address `entry`; returns what stood there.
    ///
    /// # Errors
    ///
    /// A [`Reason`] when a rule forbids it; nothing has changed then.
    #[inline(always)]
    pub fn write<H: Hardware>(
        &mut self,
        hw: &mut H,
        entry: u64,
        value: u64,
    ) -> Result<u64, Reason> {
        let mut index = self.last.index(entry);
        if index >= self.last.limit {
            if !self.find(entry) {
                return self.write_other(hw, entry, value);
            }
            index = self.last.index(entry);
        }
        let old = hw.read(entry);
        if bits::is_valid(value) {
            if value & NOT_COMMON != COMMON || self.frames.word(value & bits::ADDRESS) != ORDINARY {
                return self.write_unusual_page(hw, entry, value);
            }
            let settled = if bits::is_valid(old) {
                (old ^ value) & !bits::LIVE == 0
            } else {
                self.last.quiet || self.is_settled(index)
            };
            if !settled {
                return self.write_unusual_page(hw, entry, value);
            }
        } else if bits::is_valid(old) {
            self.last.quiet = false;
            if let Some(metadata) = self.pool.get_mut(self.last.table) {
                metadata.set_stale(index as usize);
            }
        }
        hw.perform(Step::Write { entry, value });
        Ok(old)
    }

    /// Whether the TLB holds nothing for an invalid entry of the last table.
    #[inline(always)]
    fn is_settled(&self, index: u64) -> bool {
        let metadata = self.pool.get(self.last.table);
        metadata.is_some_and(|it| !it.is_stale(index as usize))
    }

    /// Makes the table that an entry is in the last one, if it is a user's of level 3.
    #[inline(never)]
    fn find(&mut self, entry: u64) -> bool {
        let word = self.frames.word(entry);
        let table = table_index(word, entry);
        let class = word & 0xff;
        let Some(metadata) = self.pool.get(table) else {
            return false;
        };
        if class != FrameType::UserTable3 as u16 || !entry.is_multiple_of(8) {
            return false;
        }
        self.last = LastTable {
            base: entry & !(PAGE_SIZE - 1),
            limit: ENTRIES as u64,
            table,
            quiet: metadata.is_quiet(),
        };
        true
    }

    #[cold]
    #[inline(never)]
    fn write_unusual_page<H: Hardware>(
        &mut self,
        hw: &mut H,
        entry: u64,
        value: u64,
    ) -> Result<u64, Reason> {
        self.add_effort(1);
        let place = Place {
            entry,
            table: self.last.table,
            level: Level::Three,
            user: true,
        };
        self.write_page(hw, place, value)
    }
}

/// Entry of an ordinary frame in the frame table: nothing but the type.
const ORDINARY: u16 = FrameType::Ordinary as u16;
