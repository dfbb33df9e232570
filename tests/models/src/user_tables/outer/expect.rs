// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checks after calls.

use donjon_abi::call::Process;
use std::collections::BTreeMap;

use donjon_abi::tcr::LAST_RESERVED_ASID;
use donjon_core::checks::Checks;
use donjon_core::translation::frames::FrameType;
use donjon_core::user_tables::{Fill, LEAST_PAGES};

use super::super::{Leaf, PAGE, leaves};
use super::{
    ACCESSED, ASIDS_USED, EL0, GUARDED, NO_EL0, Outer, RAM, RAM_END, READ_ONLY, SHADOW_BITS,
};

/// The bits of a leaf that [`rights`] are made of.
const RIGHTS: u64 = EL0 | READ_ONLY | ACCESSED | GUARDED | NO_EL0;

/// What a leaf with PXN allows (DDI 0487, D8.4): EL0 to read, to write, to execute, to branch
/// indirectly to any instruction of it, and EL1 to read and to write, where PAN forbids what EL0
/// may read. Without the access flag nothing is allowed.
const fn rights(leaf: u64) -> [bool; 6] {
    let accessed = leaf & ACCESSED != 0;
    let user = accessed && leaf & EL0 != 0;
    let kernel = accessed && leaf & EL0 == 0;
    let writable = leaf & READ_ONLY == 0;
    let executable = accessed && leaf & NO_EL0 == 0;
    [
        user,
        user && writable,
        executable,
        executable && leaf & GUARDED == 0,
        kernel,
        kernel && writable,
    ]
}

impl<C: Checks> Outer<'_, C> {
    /// No two processes run under one ASID, and none under one of the inner domain's.
    pub(super) fn expect_apart(&mut self) {
        let running = self.running.iter().flatten();
        for process in running.clone() {
            let asid = process.asid();
            let other = running.clone().any(|it| it.asid() == asid && it != process);
            if other || asid <= LAST_RESERVED_ASID {
                let wrong = format!("CPUs run {:?}", self.running);
                self.world.wrong.push(wrong);
                return;
            }
        }
    }

    /// A shadow was filled from somewhere: Linux could have read it there itself.
    pub(super) fn expect_readable(&mut self, process: Process, source: u64) {
        let frame = source & !(PAGE - 1);
        let readable = (RAM..RAM_END).contains(&frame) && !self.types.contains_key(&frame);
        if !readable
            && self
                .user_tables
                .tree(process.asid())
                .is_some_and(|it| it.1 == process)
        {
            self.world.wrong.push(format!(
                "ASID {} was filled from {source:#x}",
                process.asid()
            ));
        }
    }

    /// Nothing is writable that Linux does not have writable, where it was read from.
    pub(super) fn expect_refreshed(&mut self, process: Process) {
        let Some((root, _)) = self
            .user_tables
            .tree(process.asid())
            .filter(|it| it.1 == process)
        else {
            return;
        };
        let (found, _) = leaves(&mut self.world, root);
        for (va, leaf) in found {
            let (level, shift) = if leaf.size == PAGE { (3, 12) } else { (2, 21) };
            let source = self
                .sources
                .get(&(process.asid(), level, va >> (shift + 9)));
            let now = source.map(|it| self.world.get(it + (va >> shift) % 512 * 8));
            let readable = source.is_some_and(|it| !self.types.contains_key(it));
            let same = now.is_some_and(|it| it & SHADOW_BITS == leaf.descriptor) && readable;
            if leaf.descriptor & READ_ONLY == 0 && !same {
                self.world.wrong.push(format!(
                    "{va:#x} of ASID {} is still {:#x}, and Linux says {now:x?}",
                    process.asid(),
                    leaf.descriptor
                ));
            }
        }
    }

    /// A process has what it had before, and all of it is read-only.
    pub(super) fn expect_protected(&mut self, process: Process, before: &BTreeMap<u64, Leaf>) {
        let shown = self.shown(process);
        let expected = before.iter().map(|(va, leaf)| {
            let descriptor = leaf.descriptor | READ_ONLY;
            (*va, leaf.size, descriptor)
        });
        let found = shown.iter().map(|(va, it)| (*va, it.size, it.descriptor));
        if !found.eq(expected) {
            let text = format!("ASID {} has {shown:x?} by protection", process.asid());
            self.world.wrong.push(text);
        }
    }

    /// What a process has, by address. Nothing without a tree.
    pub(super) fn shown(&mut self, process: Process) -> BTreeMap<u64, Leaf> {
        let tree = self
            .user_tables
            .tree(process.asid())
            .filter(|it| it.1 == process);
        tree.map(|(root, _)| leaves(&mut self.world, root).0)
            .unwrap_or_default()
    }

    /// A process has nothing that it had not before, and no right to it that it had not.
    pub(super) fn expect_no_more(&mut self, process: Process, before: &BTreeMap<u64, Leaf>) {
        for (va, leaf) in self.shown(process) {
            let no_more = before.get(&va).is_some_and(|old| {
                let (was, is) = (rights(old.descriptor), rights(leaf.descriptor));
                let same = (old.descriptor ^ leaf.descriptor) & !RIGHTS == 0;
                same && old.size == leaf.size && was.iter().zip(is).all(|(was, is)| *was || !is)
            });
            if !no_more {
                let old = before.get(&va);
                self.world
                    .wrong
                    .push(format!("{va:#x} is {leaf:x?} by refresh and was {old:x?}"));
            }
        }
    }

    /// Whether a page may be a user's, by a rule of its own.
    pub(super) fn allowed(&self, descriptor: u64) -> bool {
        let frame = descriptor & 0xffff_ffff_f000;
        let ram = (RAM..RAM_END).contains(&frame);
        let index = descriptor >> 2 & 7;
        let shape = descriptor & 3 == 3
            && descriptor >> 11 & 1 == 1
            && descriptor >> 53 & 1 == 1
            && descriptor >> 8 & 3 != 1
            && (descriptor >> 8 & 3 == 3 || index >= 2)
            && index <= 4
            && descriptor & (1 << 5 | 0x3ff << 40 | 0x1f << 59) == 0;
        let kind = self.types.get(&frame).copied();
        let target = match kind.unwrap_or(FrameType::Ordinary) {
            FrameType::Ordinary => true,
            FrameType::KernelText | FrameType::KernelReadOnly => {
                descriptor & READ_ONLY != 0 && index <= 1 && descriptor >> 8 & 3 == 3
            }
            _ => false,
        };
        ram && shape && target
    }

    pub(super) fn expect_mapped(&mut self, process: Process, fill: Fill, refused: Option<u64>) {
        let Some((root, _)) = self
            .user_tables
            .tree(process.asid())
            .filter(|it| it.1 == process)
        else {
            return;
        };
        self.count("map with a tree");
        let (found, _) = leaves(&mut self.world, root);
        let mut first = None;
        for number in 0..fill.count {
            let va = fill.va + number * PAGE;
            let descriptor = self.world.get(fill.source + number * 8);
            let valid = descriptor & 1 != 0;
            let good = valid && self.allowed(descriptor);
            let shown = found.get(&va).map(|leaf| leaf.descriptor);
            let expected = good.then_some(descriptor & SHADOW_BITS);
            if valid && !good {
                first = first.or(Some(number));
            }
            if shown != expected {
                self.world.wrong.push(format!(
                    "{va:#x} is {shown:x?} and not {expected:x?} for {descriptor:#x}"
                ));
            }
        }
        if refused != first {
            self.world
                .wrong
                .push(format!("refused {refused:?} first and not {first:?}"));
        }
    }

    pub(super) fn expect_empty(&mut self, process: Process, start: u64, end: u64) {
        let Some((root, _)) = self
            .user_tables
            .tree(process.asid())
            .filter(|it| it.1 == process)
        else {
            return;
        };
        let (found, _) = leaves(&mut self.world, root);
        if let Some((va, _)) = found.range(start..end).next() {
            self.world
                .wrong
                .push(format!("{va:#x} of ASID {} is still there", process.asid()));
        }
    }

    pub(super) fn check(&mut self, thorough: bool) {
        for (root, asid) in self.world.current().collect::<Vec<_>>() {
            if self.user_tables.tree(asid).is_none_or(|it| it.0 != root) {
                self.world
                    .wrong
                    .push(format!("a CPU has {root:#x} under ASID {asid}"));
            }
        }
        let roots: BTreeMap<u16, u64> = (0..=LAST_RESERVED_ASID + ASIDS_USED as u16)
            .filter_map(|asid| Some((asid, self.user_tables.tree(asid)?.0)))
            .collect();
        let mut trees = BTreeMap::new();
        let mut used = Vec::new();
        for (asid, root) in &roots {
            if thorough {
                let (found, tables) = leaves(&mut self.world, *root);
                used.extend(tables);
                trees.insert(*asid, found);
            }
        }
        if !thorough {
            return;
        }
        if used.len() as u64 + u64::from(self.user_tables.free_pages()) != LEAST_PAGES {
            let (used, free) = (used.len(), self.user_tables.free_pages());
            let wrong = format!("{used} pages are used and {free} free: {:?}", self.counters);
            self.world.wrong.push(wrong);
        }
        used.sort_unstable();
        if used.windows(2).any(|pair| pair[0] == pair[1]) {
            self.world.wrong.push("two trees share a table".into());
        }
        for (asid, found) in &trees {
            for (va, leaf) in found {
                let frames = (0..leaf.size / PAGE).map(|page| (leaf.descriptor | 2) + page * PAGE);
                for page in frames {
                    if !self.allowed(page) {
                        self.world
                            .wrong
                            .push(format!("ASID {asid} has {page:#x} at {va:#x}"));
                    }
                }
            }
        }
        let cached: Vec<_> = self.world.cached().collect();
        for (asid, va, leaf, size) in cached {
            if let Some(tree) = trees.get(&asid) {
                let shown = tree.get(&va);
                if shown.is_none_or(|it| it.descriptor != leaf || it.size != size) {
                    self.world.wrong.push(format!(
                        "a TLB has {leaf:#x} at {va:#x} of ASID {asid}, and the tree {shown:x?}"
                    ));
                }
            }
        }
    }
}
