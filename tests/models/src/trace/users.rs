// SPDX-License-Identifier: MIT OR Apache-2.0
//! User trees: what they may map, and when they are dropped.
//!
//! What is ordinary memory is not asked of the rules: it is what the linear map shows, and what may
//! be written is what may be written there.

use super::descriptor::{
    self, ENTRIES, PAGE, UPPER, is_leaf, is_users, is_writable, next, output, span,
};
use super::oracle::{Oracle, block_of};
use super::report::Rule;
use super::stale::Space;

impl Oracle<'_> {
    /// Looks at an entry of a user that becomes valid, or changes.
    pub(super) fn may_be_a_users(&mut self, value: u64, level: u8) {
        if !is_leaf(value, level) {
            return;
        }
        self.counters.filled += 1;
        if !is_users(value) {
            let met = format!("{value:#x} is no entry of a user");
            return self.wrong(Rule::Forbidden, met);
        }
        let start = output(value, level);
        let mut frames = (start..start + span(level)).step_by(PAGE as usize);
        let what = frames.find_map(|frame| Some((frame, self.forbids(frame, value)?)));
        if let Some((frame, what)) = what {
            self.wrong(Rule::Forbidden, format!("{frame:#x} is {what}"));
        }
    }

    /// Why a user may not have a frame with these permissions.
    fn forbids(&self, frame: u64, value: u64) -> Option<&'static str> {
        if self.is_users(frame) || self.is_table(frame) {
            return Some("a table");
        }
        if self.blocks.contains(&block_of(frame)) {
            return Some("in a pool");
        }
        match self.in_linear_map(frame) {
            None => Some("not in the linear map"),
            Some(leaf) if is_writable(value) && !is_writable(leaf) => Some("read-only"),
            Some(_) => None,
        }
    }

    /// The leaf of the linear map that shows a frame.
    fn in_linear_map(&self, frame: u64) -> Option<u64> {
        let va = UPPER + frame.checked_sub(self.linear?)?;
        let mut table = self.root;
        for level in 0..4 {
            // The outer half of the root.
            let entries = if level == 0 { ENTRIES / 2 } else { ENTRIES };
            let index = va / span(level) % entries;
            let descriptor = *self.tables.get(&table)?.words.get(index as usize)?;
            if is_leaf(descriptor, level) {
                let shown = output(descriptor, level) + va % span(level);
                return (shown == frame).then_some(descriptor);
            }
            table = next(descriptor, level)?;
        }
        None
    }

    /// The physical address that the linear map begins with, from the first leaf below a table.
    pub(super) fn first_leaf(&self, table: u64, va: u64, level: u8) -> Option<u64> {
        let words = &self.tables.get(&table)?.words;
        // The linear map has one slot of the root.
        let entries = if level == 0 { 1 } else { words.len() };
        (0..).zip(&words[..entries]).find_map(|(index, word)| {
            let va = va + index * span(level);
            if is_leaf(*word, level) {
                output(*word, level).checked_sub(va - UPPER)
            } else {
                self.first_leaf(next(*word, level)?, va, level + 1)
            }
        })
    }

    /// A block stops being ordinary memory: the linear map shows it read-only from now on.
    pub(super) fn close_block(&mut self, block: u64) {
        let frames = block..block + ENTRIES * PAGE;
        let shows = |value: u64, level| {
            let start = output(value, level);
            is_leaf(value, level) && start < frames.end && frames.start < start + span(level)
        };
        let users = self.tables.values().filter_map(|it| {
            let level = it.users_level()?;
            it.words.iter().find(|word| shows(**word, level))
        });
        let mut found = users.map(|it| format!("a tree has {it:#x}"));
        let found = found.next();
        let held = self.stale.users(&frames).map(|it| it.to_string());
        if let Some(met) = found.or(held) {
            self.wrong(Rule::StillMapped, met);
        }
    }

    /// A CPU has a tree. It is new if it was not linked before.
    pub(super) fn load_tree(&mut self, root: u64) {
        if self.gone.contains(&root) || !self.is_users(root) {
            self.wrong(Rule::LoadedGone, format!("{root:#x} is no tree"));
        } else if let Err(met) = self.make_root(root) {
            self.wrong(Rule::LinkedTwice, met);
        }
    }

    /// A frame of the arena is about to be used again. If it is in a tree, or the root of one, the
    /// tree was dropped, as a whole.
    pub(super) fn drop_tree_of(&mut self, frame: u64) {
        let Some(Space::User(root)) = self.space_of(frame) else {
            return;
        };
        if self.asids.is_loaded(root) {
            let met = format!("a CPU has its root {root:#x}");
            return self.wrong(Rule::ZeroedInUse, met);
        }
        if !self.asids.is_clean(root) {
            let met = format!("what was loaded with its root {root:#x} may be held");
            self.wrong(Rule::TableHeld, met);
        }
        self.drop_tree(root);
    }

    /// A tree is gone.
    pub(super) fn drop_tree(&mut self, root: u64) {
        self.counters.trees += 1;
        self.asids.forget(root);
        self.stale.unbind(root);
        self.gone.insert(root);
        self.scatter(root);
    }

    /// No table is below another any more, from this one on.
    fn scatter(&mut self, frame: u64) {
        for (level, descriptor) in self.detach(frame) {
            if let Some(below) = descriptor::next(descriptor, level) {
                self.scatter(below);
            }
        }
    }
}
