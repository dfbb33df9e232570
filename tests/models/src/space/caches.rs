// SPDX-License-Identifier: MIT OR Apache-2.0
//! TLBs that hold every entry that they may.
//!
//! All CPUs share one set here: an entry that any of them may hold is held. It is about the upper
//! range, which is always there, under every ASID: walks of it are always possible, with the root
//! read as the outer view reads it (entry k at V) and as the wide view does (entries 0 to 511, so
//! that entry k is at V - 2^47), and from every upper table that is held.

use std::collections::{BTreeMap, BTreeSet};

use super::memory::{Frames, PAGE, Violation};

const ADDRESS: u64 = 0x0000_ffff_ffff_f000;
const UPPER: u64 = 0xffff_8000_0000_0000;
const WIDE: u64 = 0xffff_0000_0000_0000;

/// Size that an entry of a table spans.
const fn span(level: u8) -> u64 {
    1 << (39 - 9 * level as u32)
}

/// An invalidation that was issued.
#[derive(Clone, Copy, Debug)]
pub enum Invalidation {
    /// Leaves of an address.
    Leaf(u64),
    /// Leaves and upper tables of an address.
    Address(u64),
    /// Everything.
    All,
}

/// A table as walks may find it: for which addresses, as which level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Role {
    /// First address that it translates.
    pub va: u64,
    /// Level as which it is read.
    pub level: u8,
}

impl Role {
    const fn covers(self, va: u64) -> bool {
        self.va <= va && (va - self.va) / span(self.level) < 512
    }
}

/// A leaf that may be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Leaf {
    /// First address.
    pub va: u64,
    /// Level: 2 for blocks, 3 for pages.
    pub level: u8,
    /// The descriptor.
    pub descriptor: u64,
}

impl Leaf {
    /// First byte that it shows.
    pub const fn output(self) -> u64 {
        self.descriptor & ADDRESS
    }

    /// Whether the outer domain can write through it.
    pub const fn is_writable(self) -> bool {
        self.descriptor & 1 << 7 == 0 || self.descriptor & 1 << 51 != 0
    }

    /// Whether EL1 can execute it.
    pub const fn is_executable(self) -> bool {
        self.descriptor & 1 << 53 == 0
    }

    /// The physical pages that it shows.
    pub fn pages(self) -> impl Iterator<Item = u64> {
        (self.output()..self.output() + span(self.level)).step_by(PAGE as usize)
    }

    const fn covers(self, va: u64) -> bool {
        self.va <= va && va - self.va < span(self.level)
    }

    /// Whether two leaves may not be held at the same time: one address, and more than the
    /// permissions differ (D8.17.1).
    const fn conflicts(self, other: Self) -> bool {
        const PERMISSIONS: u64 = 1 << 6 | 1 << 7 | 1 << 10 | 0b1_1111 << 50 | 0b1111 << 55;
        const CONTIGUOUS: u64 = 1 << 52;
        self.level != other.level
            || (self.descriptor ^ other.descriptor) & !(PERMISSIONS & !CONTIGUOUS) != 0
            || self.descriptor & CONTIGUOUS != 0
    }
}

/// What the TLBs of all CPUs hold.
pub struct Caches {
    root: u64,
    leaves: BTreeMap<u64, Vec<Leaf>>,
    /// Which roles each table has that is held, roots aside.
    roles: BTreeMap<u64, BTreeSet<Role>>,
    /// Leaves that came since the last look at them.
    pub recent: Vec<Leaf>,
    /// What went wrong.
    pub violations: Vec<Violation>,
}

impl Caches {
    /// Nothing, and `root` to begin walks at.
    pub fn new(root: u64) -> Self {
        Self {
            root,
            leaves: BTreeMap::new(),
            roles: BTreeMap::new(),
            recent: Vec::new(),
            violations: Vec::new(),
        }
    }

    /// All leaves that may be held.
    pub fn leaves(&self) -> impl Iterator<Item = Leaf> + '_ {
        self.leaves.values().flatten().copied()
    }

    /// All tables that may be held, with their roles.
    pub fn tables(&self) -> impl Iterator<Item = (u64, Role)> + '_ {
        let tables = self.roles.iter();
        tables.flat_map(|(table, roles)| roles.iter().map(|role| (*table, *role)))
    }

    /// Walks all that can be walked.
    pub fn fill(&mut self, frames: &Frames) {
        let held: Vec<_> = self.tables().collect();
        for (table, role) in self.roots().into_iter().chain(held) {
            self.walk(frames, table, role);
        }
    }

    /// The root in both its roles.
    fn roots(&self) -> [(u64, Role); 2] {
        [UPPER, WIDE].map(|va| (self.root, Role { va, level: 0 }))
    }

    fn walk(&mut self, frames: &Frames, table: u64, role: Role) {
        for (index, descriptor) in frames.valid(table) {
            self.see(frames, role, index, descriptor);
        }
    }

    /// A walk finds a valid descriptor.
    fn see(&mut self, frames: &Frames, role: Role, index: u64, descriptor: u64) {
        let level = role.level;
        if role.level == 0 && role.va == UPPER && index >= 256 {
            return;
        }
        let va = role.va + index * span(level);
        if level < 3 && descriptor & 0b11 == 0b11 {
            let below = Role {
                va,
                level: level + 1,
            };
            let table = descriptor & ADDRESS;
            if self.roles.entry(table).or_default().insert(below) {
                let other = self
                    .tables()
                    .find(|(it, role)| *role == below && *it != table);
                if let Some((other, _)) = other {
                    self.violations.push(format!(
                        "tables {other:#x} and {table:#x} are held at once as {below:x?}"
                    ));
                }
                self.walk(frames, table, below);
            }
            return;
        }
        self.keep(Leaf {
            va,
            level,
            descriptor,
        });
    }

    fn keep(&mut self, leaf: Leaf) {
        let held = self.leaves.entry(leaf.va).or_default();
        if held.contains(&leaf) {
            return;
        }
        held.push(leaf);
        self.recent.push(leaf);
        let block = leaf.va & !(span(2) - 1);
        let neighbours = self.leaves.range(block..block + span(2));
        let overlap = |it: &Leaf| it.covers(leaf.va) || leaf.covers(it.va);
        let mut others = neighbours.flat_map(|(_, leaves)| leaves);
        let other = others.find(|it| overlap(it) && **it != leaf && it.conflicts(leaf));
        if let Some(other) = other {
            self.violations.push(format!(
                "break before make: {other:x?} is held with {leaf:x?}"
            ));
        }
    }

    /// An entry in memory has a new value.
    pub fn entry_changed(&mut self, frames: &Frames, entry: u64) {
        let descriptor = frames.read(entry);
        if descriptor & 1 == 0 {
            return;
        }
        let table = entry & !(PAGE - 1);
        let roots = self.roots().into_iter().filter(|(root, _)| *root == table);
        let roles = self.roles.get(&table).into_iter().flatten();
        let roles: Vec<_> = roots.map(|(_, role)| role).chain(roles.copied()).collect();
        for role in roles {
            self.see(frames, role, entry / 8 % 512, descriptor);
        }
    }

    /// No TLB may hold a writable leaf of a frame that the inner domain writes as a table.
    pub fn must_not_write(&mut self, frame: u64) {
        let shows = |it: &Leaf| it.output() <= frame && frame - it.output() < span(it.level);
        let found = self.leaves().find(|it| it.is_writable() && shows(it));
        if let Some(leaf) = found {
            self.violations.push(format!(
                "{frame:#x} is written as a table and through {leaf:x?}"
            ));
        }
    }

    /// An invalidation is complete. What can be walked is walked again at once.
    pub fn invalidate(&mut self, frames: &Frames, invalidation: Invalidation) {
        match invalidation {
            Invalidation::All => {
                self.leaves.clear();
                self.roles.clear();
                self.fill(frames);
            }
            Invalidation::Leaf(va) => {
                self.drop_leaves(|it| it.covers(va));
                self.walk_for(frames, va);
            }
            Invalidation::Address(va) => {
                self.drop_leaves(|it| it.covers(va));
                // A table of level n is held for what an entry of level n - 1 spans.
                self.drop_roles(|it| it.covers(va));
                self.walk_for(frames, va);
            }
        }
    }

    fn drop_leaves(&mut self, goes: impl Fn(Leaf) -> bool) {
        self.leaves.retain(|_, leaves| {
            leaves.retain(|it| !goes(*it));
            !leaves.is_empty()
        });
    }

    fn drop_roles(&mut self, goes: impl Fn(Role) -> bool) {
        self.roles.retain(|_, roles| {
            roles.retain(|it| !goes(*it));
            !roles.is_empty()
        });
    }

    /// Walks for one address, from the roots and from every table that is held. All other walks
    /// were made before and would find the same.
    fn walk_for(&mut self, frames: &Frames, va: u64) {
        let held: Vec<_> = self.tables().collect();
        for (table, role) in self.roots().into_iter().chain(held) {
            if !role.covers(va) {
                continue;
            }
            let index = (va - role.va) / span(role.level);
            let descriptor = frames.read(table + index * 8);
            if descriptor & 1 == 1 {
                self.see(frames, role, index, descriptor);
            }
        }
    }
}
