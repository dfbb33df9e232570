// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stale entries: what a TLB may hold that is no longer in the tables.
//!
//! Whatever was valid in a table under a root that has an ASID may be held when it is taken out,
//! until an invalidation that was issued afterwards is complete. That holds for leaves, and for
//! entries that led to tables, which a TLB may hold as well. One thing is left out: what comes
//! back, after an invalidation of leaves alone, through a table that is still held. A store
//! in the place of that table is found by the entry that led to it.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use super::Position;
use super::descriptor::{self, UPPER, WIDE, is_leaf, span};

/// Whose addresses they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// The kernel's: always there, under every ASID.
    Kernel,
    /// Addresses below a user root.
    User(u64),
}

/// An entry that may be held.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// Where it was met.
    pub place: TablePlace,
    /// The entry.
    pub descriptor: u64,
    /// When it was taken out of its table.
    pub since: Position,
    /// Views in which it may be held: bit 0 for the outer one, bit 1 for the wide one.
    views: u8,
}

/// Where walks meet an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TablePlace {
    /// Whose address.
    pub space: Space,
    /// First address that the entry translates.
    pub va: u64,
    /// Level of its table.
    pub level: u8,
}

impl fmt::Display for TablePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { space, va, level } = self;
        match space {
            Space::Kernel => write!(f, "{va:#x}, level {level}"),
            Space::User(root) => write!(f, "{va:#x} below root {root:#x}, level {level}"),
        }
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            place, descriptor, ..
        } = self;
        write!(
            f,
            "{descriptor:#x} for {place}, taken out at step {}, may be held",
            self.since
        )
    }
}

/// Fewest entries that are kept before any are looked at again.
const FEW: usize = 1 << 16;

/// Entries that may be held in TLBs.
#[derive(Default)]
pub struct Stale {
    by_address: BTreeMap<u64, Vec<Held>>,
    count: usize,
    tidy_at: usize,
    /// When the last complete invalidation of a user root's ASID was issued; roots without an
    /// ASID are not there.
    users: HashMap<u64, Position>,
    all: Position,
}

impl Stale {
    /// A root has an ASID of which nothing is held at `at`.
    pub fn bind(&mut self, root: u64, at: Position) {
        self.users.insert(root, at);
    }

    /// A root has none any more.
    pub fn unbind(&mut self, root: u64) {
        self.users.remove(&root);
    }

    /// What a root had is gone, if it was held before `at`.
    pub fn clean(&mut self, root: u64, at: Position) {
        if let Some(clean) = self.users.get_mut(&root) {
            *clean = at;
        }
    }

    /// Everything is gone that was held before `at`.
    pub const fn clean_all(&mut self, at: Position) {
        self.all = at;
    }

    /// A leaf of a user that may be held and shows something between the addresses.
    pub fn users(&self, frames: &std::ops::Range<u64>) -> Option<Held> {
        let mut held = self.held();
        held.find(|it| {
            let level = it.place.level;
            let start = descriptor::output(it.descriptor, level);
            it.place.space != Space::Kernel
                && is_leaf(it.descriptor, level)
                && start < frames.end
                && frames.start < start + span(level)
        })
        .copied()
    }

    /// An entry was taken out.
    pub fn hold(&mut self, place: TablePlace, descriptor: u64, at: Position) {
        let views = match place.space {
            Space::Kernel => 0b11,
            Space::User(root) if self.users.contains_key(&root) => 0b01,
            Space::User(_) => return,
        };
        let held = Held {
            place,
            descriptor,
            since: at,
            views,
        };
        let there = self.by_address.entry(place.va).or_default();
        let same = |it: &&mut Held| it.place == place && it.descriptor == descriptor;
        match there.iter_mut().find(same) {
            Some(same) => *same = held,
            None => {
                there.push(held);
                self.count += 1;
            }
        }
        if self.count > self.tidy_at {
            self.tidy();
        }
    }

    /// Forgets what is not held any more.
    fn tidy(&mut self) {
        let mut all = std::mem::take(&mut self.by_address);
        all.retain(|_, there| {
            there.retain(|it| self.is_held(it));
            !there.is_empty()
        });
        self.count = all.values().map(Vec::len).sum();
        self.by_address = all;
        self.tidy_at = FEW.max(2 * self.count);
    }

    fn is_held(&self, it: &Held) -> bool {
        it.since > self.all
            && match it.place.space {
                Space::Kernel => true,
                Space::User(root) => self.users.get(&root).is_some_and(|clean| it.since > *clean),
            }
    }

    /// Entries that are still held.
    pub fn held(&self) -> impl Iterator<Item = &Held> {
        let all = self.by_address.values().flatten();
        all.filter(|it| self.is_held(it))
    }

    fn at(&self, va: u64) -> impl Iterator<Item = &Held> {
        let there = self.by_address.get(&va).into_iter().flatten();
        there.filter(|it| self.is_held(it))
    }

    /// Whether an entry may be held that leads to `table` there.
    pub fn leads_to(&self, place: TablePlace, table: u64) -> bool {
        self.at(place.va).any(|it| {
            it.place == place && descriptor::next(it.descriptor, place.level) == Some(table)
        })
    }

    /// Something that may not be held when `descriptor` becomes valid there.
    pub fn conflict(&self, place: TablePlace, descriptor: u64) -> Option<Held> {
        let TablePlace { space, va, level } = place;
        let leaf = is_leaf(descriptor, level);
        let wrong = |it: &&Held| {
            let same_level = it.place.level == level;
            let held_leaf = is_leaf(it.descriptor, it.place.level);
            it.place.space == space
                && if same_level {
                    descriptor::conflict(it.descriptor, descriptor, level)
                } else {
                    // A block above, or leaves below.
                    held_leaf && (it.place.level < level || leaf)
                }
        };
        let above = (1..level).flat_map(|upper| {
            let there = self.at(va & !(span(upper) - 1));
            there.filter(move |it| it.place.level == upper)
        });
        let here = self.at(va).filter(|it| it.place.level >= level);
        let mut found = above.chain(here).find(wrong);
        if found.is_none() && leaf && level < 3 {
            let below = self.by_address.range(va + 1..va + span(level));
            let mut below = below.flat_map(|(_, there)| there);
            found = below.find(|it| self.is_held(it) && it.place.level > level && wrong(it));
        }
        found.copied()
    }

    /// An invalidation by address that was issued at `at` is complete. Gives how much it dropped.
    pub fn drop_address(&mut self, address: u64, tables_too: bool, at: Position) -> usize {
        let wide = (WIDE..UPPER).contains(&address);
        let (address, view) = if wide {
            (address + (UPPER - WIDE), 0b10)
        } else {
            (address, 0b01)
        };
        let mut dropped = 0;
        for level in 0..4 {
            let va = address & !(span(level) - 1);
            let Some(there) = self.by_address.get_mut(&va) else {
                continue;
            };
            let before = there.len();
            there.retain_mut(|it| {
                let goes = tables_too || is_leaf(it.descriptor, level);
                if it.place.level == level && it.since < at && goes {
                    it.views &= !view;
                }
                it.views != 0
            });
            dropped += before - there.len();
            if there.is_empty() {
                self.by_address.remove(&va);
            }
        }
        self.count -= dropped;
        dropped
    }

    /// An invalidation of one page of a user that was issued at `at` is complete. Gives how much it
    /// dropped.
    pub fn drop_page(&mut self, root: u64, va: u64, at: Position) -> usize {
        let mut dropped = 0;
        for level in 1..4 {
            let va = va & !(span(level) - 1);
            let Some(there) = self.by_address.get_mut(&va) else {
                continue;
            };
            let before = there.len();
            there.retain(|it| {
                it.place.space != Space::User(root)
                    || it.place.level != level
                    || it.since >= at
                    || !is_leaf(it.descriptor, level)
            });
            dropped += before - there.len();
            if there.is_empty() {
                self.by_address.remove(&va);
            }
        }
        self.count -= dropped;
        dropped
    }

    /// What was taken out there at `since`, if it may still be held.
    pub fn left(&self, place: TablePlace, since: Position) -> Option<Held> {
        let mut there = self.at(place.va);
        there
            .find(|it| it.place == place && it.since == since)
            .copied()
    }

    /// A leaf that may be held and through which something between the addresses can be written.
    pub fn writes_to(&self, frames: std::ops::Range<u64>) -> Option<Held> {
        let shows = |it: &&Held| {
            let level = it.place.level;
            let start = descriptor::output(it.descriptor, level);
            is_leaf(it.descriptor, level)
                && descriptor::is_writable(it.descriptor)
                && start < frames.end
                && frames.start < start + span(level)
        };
        self.held().find(shows).copied()
    }
}
