// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tracks tables: where each is linked, and where TLBs may still hold it.

use super::descriptor::{
    self, ENTRIES, PAGE, UPPER, index, is_leaf, is_valid, next, span, table_of,
};
use super::oracle::{Oracle, Words, block_of};
use super::report::Rule;
use super::stale::{Space, TablePlace};

/// A table, or a frame that was one.
pub struct Table {
    /// Entries of the table.
    pub(super) words: Box<Words>,
    /// Level of the table; none for a free frame.
    level: Option<u8>,
    /// Physical address of the entry that leads to it.
    parent: Option<u64>,
    /// Where walks from a root meet it: the first address that it translates.
    role: Option<Role>,
    /// Where they met it before; some of that may still be held.
    past: Vec<Role>,
    /// Whether the table was linked once.
    linked: bool,
}

impl Table {
    fn new(words: Option<Box<Words>>) -> Self {
        Self {
            words: words.unwrap_or_else(|| Box::new([0; ENTRIES as usize])),
            level: None,
            parent: None,
            role: None,
            past: Vec::new(),
            linked: false,
        }
    }

    /// Level of the table if it is in a tree of a user.
    pub(super) fn users_level(&self) -> Option<u8> {
        let role = self.role.filter(|it| it.space != Space::Kernel)?;
        Some(role.level)
    }

    /// The valid entries.
    fn valid(&self, level: u8) -> Vec<(usize, u64)> {
        let all = self.words.iter().copied().enumerate();
        all.filter(|(_, it)| is_valid(*it, level)).collect()
    }
}

/// Whether an entry is one of the kernel's.
fn frame_is_kernels(role: Option<Role>) -> bool {
    role.is_some_and(|it| it.space == Space::Kernel)
}

/// Where a root is met.
const fn root_of(root: u64) -> Role {
    Role {
        space: Space::User(root),
        va: 0,
        level: 0,
    }
}

/// A table as walks find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Role {
    space: Space,
    va: u64,
    level: u8,
}

impl Role {
    const fn place(self, index: usize) -> TablePlace {
        TablePlace {
            space: self.space,
            va: self.va + index as u64 * span(self.level),
            level: self.level,
        }
    }

    /// The role of a table that one of its entries leads to.
    const fn below(self, index: usize) -> Self {
        Self {
            va: self.place(index).va,
            level: self.level + 1,
            ..self
        }
    }

    /// The entry that leads here.
    const fn above(self) -> Option<TablePlace> {
        match self.level.checked_sub(1) {
            Some(level) => Some(TablePlace {
                space: self.space,
                va: self.va,
                level,
            }),
            None => None,
        }
    }
}

impl Oracle<'_> {
    /// The kernel's tables are known. Of its root the outer half counts: the other one shows the
    /// same tables, and the inner domain's.
    pub(super) fn import_kernel(&mut self, root: u64) {
        let role = Role {
            space: Space::Kernel,
            va: UPPER,
            level: 0,
        };
        self.import_table(root, role, None);
        self.linear = self.first_leaf(root, UPPER, 0);
    }

    /// Imports the tables of a tree of a user.
    pub(super) fn import_user(&mut self, root: u64) {
        self.import_table(root, root_of(root), None);
    }

    fn import_table(&mut self, frame: u64, role: Role, parent: Option<u64>) {
        let words = self.memory.and_then(|it| it.frame(frame));
        if words.is_none() || self.tables.contains_key(&frame) {
            return;
        }
        let mut table = Table::new(words);
        table.level = Some(role.level);
        table.parent = parent;
        table.role = Some(role);
        let mut valid = table.valid(role.level);
        self.tables.insert(frame, table);
        if frame == self.root {
            valid.retain(|(index, _)| *index < ENTRIES as usize / 2);
        }
        for (index, descriptor) in valid {
            if let Some(below) = next(descriptor, role.level) {
                let entry = frame + index as u64 * 8;
                self.import_table(below, role.below(index), Some(entry));
            }
        }
    }

    /// Whether a TLB may hold what leads to a table in an earlier role.
    fn is_past_held(&self, frame: u64, role: Role) -> bool {
        let above = role.above();
        above.is_some_and(|above| self.stale.leads_to(above, frame))
    }

    /// Earlier roles of a table that are still held.
    fn held_roles(&self, frame: u64) -> Vec<Role> {
        let past = self.tables.get(&frame).map_or(&[][..], |it| &it.past);
        let held = past.iter().copied();
        held.filter(|it| self.is_past_held(frame, *it)).collect()
    }

    /// A store to a table.
    pub(super) fn store(&mut self, entry: u64, old: u64, value: u64) {
        let (frame, index) = (table_of(entry), index(entry));
        let Some(table) = self.tables.get_mut(&frame) else {
            let met = "nothing that was recorded made this a table".to_owned();
            return self.wrong(Rule::Unrecorded, met);
        };
        let known = std::mem::replace(&mut table.words[index], value);
        let (level, role) = (table.level, table.role);
        if known != old {
            self.wrong(Rule::Unrecorded, format!("the entry was {known:#x} before"));
        }
        let Some(level) = level else {
            let met = "the frame is free".to_owned();
            return self.wrong(Rule::Unrecorded, met);
        };
        let (was, is) = (is_valid(old, level), is_valid(value, level));
        let live = was && is && descriptor::conflict(old, value, level);
        if live {
            self.wrong(Rule::LiveChange, format!("the entry is {old:#x}"));
        }
        // What the inner half of the kernel's root shows follows the outer half.
        if old == value || (frame == self.root && index >= ENTRIES as usize / 2) {
            return;
        }
        match (was, is) {
            (true, true) => self.counters.permissions += 1,
            (false, true) => self.counters.made += 1,
            (_, false) => {}
        }
        for role in role.into_iter().chain(self.held_roles(frame)) {
            let place = role.place(index);
            if was {
                self.hold(place, old);
            }
            if is && !live {
                self.may_be_made(place, value);
            }
        }
        if is && role.is_some_and(|it| it.space != Space::Kernel) {
            self.may_be_a_users(value, level);
        }
        let (before, after) = (next(old, level), next(value, level));
        if before != after {
            before.into_iter().for_each(|it| self.unlink(it, entry));
            let role = role.map(|it| it.below(index));
            after
                .into_iter()
                .for_each(|it| self.link(it, entry, level + 1, role));
        }
        let opens = |it| is_leaf(it, level) && descriptor::is_writable(it);
        let block = descriptor::output(value, level);
        let linear = frame_is_kernels(role) && level == 2 && is_leaf(old, 2) && is_leaf(value, 2);
        match (linear, opens(old), opens(value)) {
            (true, false, true) => self.release_block(block),
            (true, true, false) => self.close_block(block),
            _ => {}
        }
    }

    /// An entry was taken out there.
    fn hold(&mut self, place: TablePlace, descriptor: u64) {
        self.stale.hold(place, descriptor, self.at);
        if place.space != Space::Kernel {
            let lost = self.lost.entry(self.event.cpu).or_default();
            lost.push((place, self.at));
        }
    }

    /// An entry becomes valid there.
    fn may_be_made(&mut self, place: TablePlace, value: u64) {
        if let Some(held) = self.stale.conflict(place, value) {
            self.wrong(Rule::NotInvalidated, held.to_string());
        }
    }

    /// Whether a frame is a table now.
    pub(super) fn is_table(&self, frame: u64) -> bool {
        self.tables.get(&frame).is_some_and(|it| it.level.is_some())
    }

    /// Whose addresses a table translates.
    pub(super) fn space_of(&self, frame: u64) -> Option<Space> {
        Some(self.tables.get(&frame)?.role?.space)
    }

    /// Makes a table that is linked nowhere a root; what else it is if that cannot be.
    pub(super) fn make_root(&mut self, frame: u64) -> Result<(), String> {
        let memory = self.memory;
        let table = self
            .tables
            .entry(frame)
            .or_insert_with(|| Table::new(memory.and_then(|it| it.frame(frame))));
        if let Some(parent) = table.parent {
            return Err(format!("it is linked at {parent:#x}"));
        }
        if let Some(level @ 1..) = table.level {
            return Err(format!("it is a table of level {level}"));
        }
        table.level = Some(0);
        table.role = Some(root_of(frame));
        Ok(())
    }

    /// Makes a table of a tree that was dropped a free frame; the entries that it has.
    pub(super) fn detach(&mut self, frame: u64) -> Vec<(u8, u64)> {
        let Some(table) = self.tables.get_mut(&frame) else {
            return Vec::new();
        };
        table.role = None;
        table.parent = None;
        table.past = Vec::new();
        let level = table.level.take();
        let valid = level.map(|level| (level, table.valid(level)));
        let valid = valid.into_iter();
        valid
            .flat_map(|(level, all)| all.into_iter().map(move |(_, it)| (level, it)))
            .collect()
    }

    fn link(&mut self, frame: u64, entry: u64, level: u8, role: Option<Role>) {
        let memory = self.memory;
        let table = self
            .tables
            .entry(frame)
            .or_insert_with(|| Table::new(memory.and_then(|it| it.frame(frame))));
        self.counters.links += 1;
        self.counters.again += usize::from(table.linked);
        table.linked = true;
        let twice = table.parent.is_some() || table.level == Some(0);
        let parent = table.parent.replace(entry);
        table.level = Some(level);
        if twice {
            let met = format!("the table at {frame:#x} is linked at {parent:x?}, or a root");
            self.wrong(Rule::LinkedTwice, met);
        }
        if let Some(role) = role {
            self.assign(frame, role);
        }
    }

    /// Walks meet a table, and all below it, in a new role.
    fn assign(&mut self, frame: u64, role: Role) {
        let held = self.held_roles(frame);
        if let Some(past) = held.iter().find(|it| **it != role) {
            let met = format!(
                "the table at {frame:#x} may be held as that of {}",
                past.place(0)
            );
            self.wrong(Rule::TableHeld, met);
        }
        let Some(table) = self.tables.get_mut(&frame) else {
            return;
        };
        table.role = Some(role);
        table.past = held;
        for (index, descriptor) in table.valid(role.level) {
            self.may_be_made(role.place(index), descriptor);
            if let Some(below) = next(descriptor, role.level) {
                self.assign(below, role.below(index));
            }
        }
    }

    fn unlink(&mut self, frame: u64, entry: u64) {
        if let Some(table) = self.tables.get_mut(&frame)
            && table.parent == Some(entry)
        {
            table.parent = None;
            self.retire(frame);
        }
    }

    /// No walk from a root meets a table, and what is below it, any more; what is held may.
    fn retire(&mut self, frame: u64) {
        let mut past = self.held_roles(frame);
        let Some(table) = self.tables.get_mut(&frame) else {
            return;
        };
        let role = table.role.take();
        past.extend(role);
        table.past = past;
        let Some(role) = role else {
            return;
        };
        for (index, descriptor) in table.valid(role.level) {
            self.hold(role.place(index), descriptor);
            if let Some(below) = next(descriptor, role.level) {
                self.retire(below);
            }
        }
    }

    /// A frame is filled with zeros.
    pub(super) fn zero(&mut self, frame: u64) {
        if self.is_users(frame) {
            self.drop_tree_of(frame);
        }
        let held = self.held_roles(frame);
        if let Some(past) = held.first() {
            let met = format!("it may be held as the table of {}", past.place(0));
            self.wrong(Rule::TableHeld, met);
        }
        let users = self.is_users(frame);
        let Some(table) = self.tables.get_mut(&frame) else {
            self.tables.insert(frame, Table::new(None));
            if !users {
                self.claim(block_of(frame));
            }
            return;
        };
        let level = table.level.take();
        let reached = table.role.take().is_some();
        // A tree is emptied at its root: what was below keeps its links among each other.
        let linked = if users {
            table.parent.take().filter(|_| reached)
        } else {
            table.parent
        };
        let valid = level.map_or(Vec::new(), |level| table.valid(level));
        table.words.fill(0);
        if linked.is_some() || frame == self.root {
            self.wrong(Rule::ZeroedInUse, format!("it is linked at {linked:x?}"));
        }
        for (index, descriptor) in valid {
            for role in &held {
                self.hold(role.place(index), descriptor);
            }
            if let Some(below) = level.and_then(|level| next(descriptor, level)) {
                self.unlink(below, frame + index as u64 * 8);
            }
        }
    }

    /// Frames of a block become tables: no mapping may be writable any more.
    fn claim(&mut self, block: u64) {
        if !self.blocks.insert(block) {
            return;
        }
        self.counters.blocks += 1;
        if let Some(held) = self.stale.writes_to(block..block + ENTRIES * PAGE) {
            self.wrong(Rule::WritableHeld, held.to_string());
        }
    }

    /// Frames of a block may be mapped writable again.
    fn release_block(&mut self, block: u64) {
        for frame in (block..block + ENTRIES * PAGE).step_by(PAGE as usize) {
            let held = self.held_roles(frame);
            let Some(table) = self.tables.remove(&frame) else {
                continue;
            };
            if let Some(role) = table.role.or(held.first().copied()) {
                let met = format!(
                    "the frame at {frame:#x} may be held as the table of {}",
                    role.place(0)
                );
                self.wrong(Rule::ReleasedHeld, met);
            }
        }
        self.blocks.remove(&block);
    }
}
