// SPDX-License-Identifier: MIT OR Apache-2.0
//! Walking the kernel's tables without recursion: the caller looks at each entry and says whether
//! to go below it.

use donjon_abi::layout::ROOT_HALF;

use super::place::EntryPlace;
use crate::translation::address::{ENTRIES, Level};
use crate::translation::descriptor::Descriptor;
use crate::translation::{EntryAddress, FrameAddress, Hardware};

/// First address of the upper range in the outer view.
pub(super) const UPPER_RANGE: u64 = 0xffff_8000_0000_0000;

const LEVELS: [Level; 4] = [Level::Zero, Level::One, Level::Two, Level::Three];

/// One entry with bit 0 set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub level: Level,
    pub index: usize,
    /// Where the entry stands.
    pub address: EntryAddress,
    /// Where it stands, what it translates, its value.
    pub place: EntryPlace,
}

impl Entry {
    pub fn decode(&self) -> Descriptor {
        Descriptor::decode(self.place.descriptor, self.level)
    }
}

/// A position in the lower half of the kernel's root and the tables below it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    tables: [FrameAddress; 4],
    /// The next entry of each table on the way down.
    next: [usize; 4],
    depth: usize,
}

impl Cursor {
    /// At the first entry of the kernel's root. Its lower half is the outer view's.
    pub const fn kernel(root: FrameAddress) -> Self {
        Self {
            tables: [root; 4],
            next: [0; 4],
            depth: 0,
        }
    }

    /// The next entry with bit 0 set: of the table that was last descended to, or of those above
    /// when it has no more.
    pub fn next(&mut self, hardware: &impl Hardware) -> Option<Entry> {
        loop {
            let depth = self.depth;
            let end = if depth == 0 { ROOT_HALF } else { ENTRIES };
            let index = self.next[depth];
            if index == end {
                self.depth = depth.checked_sub(1)?;
                continue;
            }
            let entry = self.tables[depth].entry(index);
            let descriptor = entry.read(hardware).0;
            let found = (descriptor & 1 != 0).then(|| Entry {
                level: LEVELS[depth],
                index,
                address: entry,
                place: EntryPlace {
                    va: self.va(),
                    entry: entry.as_u64(),
                    descriptor,
                },
            });
            self.next[depth] += 1;
            if found.is_some() {
                return found;
            }
        }
    }

    /// Goes on with the table that the last entry leads to, at `table`. Below level 3 there is
    /// none.
    pub const fn descend(&mut self, table: FrameAddress) {
        if self.depth + 1 < LEVELS.len() {
            self.depth += 1;
            self.tables[self.depth] = table;
            self.next[self.depth] = 0;
        }
    }

    /// The address that the next entry translates. On the way down each index but the last is
    /// one ahead.
    fn va(&self) -> u64 {
        let above = (0..self.depth).map(|depth| (LEVELS[depth], self.next[depth] - 1));
        let last = (LEVELS[self.depth], self.next[self.depth]);
        above
            .chain([last])
            .map(|(level, index)| (index as u64) << level.shift())
            .sum::<u64>()
            + UPPER_RANGE
    }
}
