// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tracks which root has which ASID.
//!
//! What a TLB holds under an ASID is the current root's while it is loaded, and stays when it is
//! not. So an ASID must be clean when it gets another root, and a root that comes back to an ASID
//! is another root by then.

use std::collections::{BTreeMap, HashMap};

use super::{Position, Rule};

/// What a load changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// A root that no longer has an ASID.
    pub gone: Option<u64>,
}

/// Roots, their ASIDs, and the CPUs that they are loaded on.
#[derive(Default)]
pub struct Asids {
    /// Whether loads count: only once everything was invalidated.
    begun: bool,
    current: BTreeMap<usize, (u64, u16)>,
    owner: HashMap<u16, u64>,
    asid: HashMap<u64, u16>,
    /// When an ASID was last seen to be loaded.
    used: HashMap<u16, Position>,
    /// When the last complete invalidation of an ASID was issued.
    clean: HashMap<u16, Position>,
    all: Position,
}

impl Asids {
    /// The root of a CPU and its ASID.
    pub fn current(&self, cpu: usize) -> Option<(u64, u16)> {
        self.current.get(&cpu).copied()
    }

    /// The ASID that a root has.
    pub fn of(&self, root: u64) -> Option<u16> {
        self.asid.get(&root).copied()
    }

    /// The root that an ASID has.
    pub fn owner(&self, asid: u16) -> Option<u64> {
        self.owner.get(&asid).copied()
    }

    /// Whether all that was held of a root which no CPU has is gone.
    pub fn is_clean(&self, root: u64) -> bool {
        let Some(asid) = self.of(root) else {
            return true;
        };
        let clean = self.clean.get(&asid).copied().unwrap_or(0).max(self.all);
        self.used.get(&asid).is_none_or(|used| *used < clean)
    }

    /// Whether a CPU has this root.
    pub fn is_loaded(&self, root: u64) -> bool {
        self.current.values().any(|(it, _)| *it == root)
    }

    /// An ASID is clean of all that was filled before `at`.
    pub fn cleaned(&mut self, asid: u16, at: Position) {
        self.clean.insert(asid, at);
    }

    /// All ASIDs are. The first time makes the roots that are loaded the owners of theirs, and
    /// gives them.
    pub fn all_cleaned(&mut self, at: Position) -> Vec<u64> {
        self.all = at;
        if self.begun {
            return Vec::new();
        }
        self.begun = true;
        let current: Vec<_> = self.current.values().copied().collect();
        current.iter().for_each(|(root, asid)| {
            self.give(*root, *asid);
        });
        current.into_iter().map(|(root, _)| root).collect()
    }

    /// A root is no more.
    pub fn remove(&mut self, root: u64, at: Position) {
        if let Some(asid) = self.asid.remove(&root) {
            self.owner.remove(&asid);
            self.used.insert(asid, at);
        }
    }

    /// A root is no more, of which nothing is held.
    pub fn forget(&mut self, root: u64) {
        if let Some(asid) = self.asid.remove(&root) {
            self.owner.remove(&asid);
        }
    }

    /// A CPU loads a root, or with ASID 0 none. Gives what changed if the root has another ASID
    /// than before, and what is wrong with that.
    pub fn load(
        &mut self,
        cpu: usize,
        root: u64,
        asid: u16,
        at: Position,
    ) -> (Option<Binding>, Option<(Rule, String)>) {
        if let Some((_, left)) = self.current.remove(&cpu) {
            self.used.insert(left, at);
        }
        if asid == 0 {
            return (None, None);
        }
        let others = self.current.values();
        let shared = others
            .filter(|(other, its)| (*other == root) != (*its == asid))
            .map(|(other, its)| (Rule::AsidShared, format!("{other:#x} is loaded as {its}")))
            .next();
        self.current.insert(cpu, (root, asid));
        if !self.begun || (self.of(root) == Some(asid) && self.owner(asid) == Some(root)) {
            return (None, shared);
        }
        let clean = self.clean.get(&asid).copied().unwrap_or(0).max(self.all);
        let used = self.used.get(&asid).copied();
        let held = used.filter(|used| *used > clean).map(|used| {
            let met = format!("it was in use until step {used}, and clean at step {clean}");
            (Rule::AsidHeld, met)
        });
        let gone = self.give(root, asid);
        (Some(Binding { gone }), shared.or(held))
    }

    /// Gives an ASID to a root; the root that had it has none then.
    fn give(&mut self, root: u64, asid: u16) -> Option<u64> {
        if let Some(before) = self.asid.insert(root, asid) {
            self.owner.remove(&before);
        }
        let before = self.owner.insert(asid, root).filter(|it| *it != root);
        if let Some(before) = before {
            self.asid.remove(&before);
        }
        before
    }
}
