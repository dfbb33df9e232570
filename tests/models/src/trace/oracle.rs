// SPDX-License-Identifier: MIT OR Apache-2.0
//! Follows a trace event by event.
//!
//! Until the tables are known ([`Oracle::import`]) it follows barriers and ASIDs alone.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use super::asids::Asids;
use super::descriptor::{ENTRIES, PAGE};
use super::links::Table;
use super::order::{Invalidation, Order};
use super::report::{Counters, Rule, Violation};
use super::stale::{Stale, TablePlace};
use super::{Action, Event, Position};

/// The words of a frame.
pub type Words = [u64; ENTRIES as usize];

/// Memory as it is when the tables become known; none where no RAM is.
pub trait Memory {
    /// The words of the frame at a physical address.
    fn frame(&self, address: u64) -> Option<Box<Words>>;
}

/// Violations that are kept in words; of more there is only the number.
const KEPT: usize = 20;

/// Judges a trace.
pub struct Oracle<'a> {
    pub(super) memory: Option<&'a dyn Memory>,
    /// The kernel's root.
    pub(super) root: u64,
    /// What the tables of users are made of.
    pub(super) arena: Range<u64>,
    /// The physical address that the linear map begins with.
    pub(super) linear: Option<u64>,
    pub(super) tables: HashMap<u64, Table>,
    pub(super) stale: Stale,
    pub(super) asids: Asids,
    /// Blocks of memory of which frames became tables since the tables were known.
    pub(super) blocks: BTreeSet<u64>,
    pub(super) at: Position,
    pub(super) counters: Counters,
    order: Order,
    /// Roots of trees that were dropped, until they are zeroed.
    pub(super) gone: BTreeSet<u64>,
    /// What each CPU took out of tables of users in its call.
    pub(super) lost: BTreeMap<usize, Vec<(TablePlace, Position)>>,
    pub(super) event: Event,
    violations: Vec<Violation>,
}

impl<'a> Oracle<'a> {
    /// An oracle that knows no table yet. The tables of users are made of `arena`.
    pub fn new(arena: Range<u64>) -> Self {
        Self {
            memory: None,
            root: 0,
            arena,
            linear: None,
            tables: HashMap::new(),
            stale: Stale::default(),
            asids: Asids::default(),
            blocks: BTreeSet::new(),
            at: 0,
            counters: Counters::default(),
            order: Order::default(),
            gone: BTreeSet::new(),
            lost: BTreeMap::new(),
            event: Event {
                cpu: 0,
                action: Action::Barrier,
            },
            violations: Vec::new(),
        }
    }

    /// The tables are known from now on: those below the kernel's root, and below the roots of
    /// `users`, as they stand in `memory`.
    pub fn import(&mut self, memory: &'a dyn Memory, root: u64, users: &[u64]) {
        self.memory = Some(memory);
        self.root = root;
        self.import_kernel(root);
        for root in users {
            self.import_user(*root);
        }
    }

    /// The next step.
    pub fn step(&mut self, event: Event) {
        self.event = event;
        let Event { cpu, action } = event;
        if self.memory.is_some() {
            *self.counters.events.entry(event.kind()).or_default() += 1;
        }
        match action {
            Action::Store { entry, old, value } => {
                self.is_ordered(cpu, entry);
                if self.memory.is_some() {
                    self.store(entry, old, value);
                }
            }
            Action::Zero(frame) => {
                self.is_ordered(cpu, frame);
                if self.memory.is_some() {
                    self.zero(frame);
                }
                self.end_root(frame);
            }
            Action::Clean(_) => {}
            Action::StoreBarrier => self.order.store_barrier(cpu),
            Action::Barrier => {
                for (invalidation, issued) in self.order.barrier(cpu) {
                    self.complete(invalidation, issued);
                }
            }
            Action::InvalidateLeaf(va) => self.issue(cpu, Invalidation::Leaf(va)),
            Action::InvalidateTable(va) => self.issue(cpu, Invalidation::Table(va)),
            Action::InvalidatePage { va, asid } => self.issue(cpu, Invalidation::Page(asid, va)),
            Action::InvalidateAsid(asid) => self.issue(cpu, Invalidation::Asid(asid)),
            Action::InvalidateAll => self.issue(cpu, Invalidation::All),
            Action::Load { root, asid } => self.load(cpu, root, asid),
            Action::End => self.end(cpu),
        }
        self.at += 1;
    }

    /// Compares the tables with those that there are at the end of the trace: a store that was
    /// not recorded shows.
    pub fn finish(&mut self, memory: &dyn Memory) {
        let mut differ = BTreeMap::new();
        for (frame, table) in &self.tables {
            let words = memory.frame(*frame);
            let words = words.iter().flat_map(|it| it.iter());
            let found = words
                .zip(table.words.iter())
                .position(|(is, was)| is != was);
            if let Some(index) = found {
                differ.insert(*frame, index);
            }
        }
        for (frame, index) in differ {
            let met = format!("at the end entry {index} of the table at {frame:#x} is another");
            self.wrong(Rule::Unrecorded, met);
        }
    }

    /// What each CPU has: root and ASID.
    pub fn loaded(&self, cpu: usize) -> Option<(u64, u16)> {
        self.asids.current(cpu)
    }

    /// What was wrong, the first of it in words.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// How much was looked at, and how often which rule was broken.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(super) fn wrong(&mut self, rule: Rule, met: String) {
        let count = self.counters.violations.entry(rule).or_default();
        *count += 1;
        if *count <= KEPT {
            self.violations.push(Violation {
                position: self.at,
                event: self.event,
                rule,
                met,
            });
        }
    }

    /// Whether a frame is one of the tables of users.
    pub(super) fn is_users(&self, address: u64) -> bool {
        self.arena.contains(&address)
    }

    /// A call is over.
    fn end(&mut self, cpu: usize) {
        if let Some((invalidation, issued)) = self.order.incomplete(cpu) {
            let met = format!("{invalidation:x?} of step {issued} may not be complete");
            self.wrong(Rule::Incomplete, met);
        }
        for (place, since) in self.lost.remove(&cpu).unwrap_or_default() {
            if let Some(held) = self.stale.left(place, since) {
                self.wrong(Rule::LeftHeld, held.to_string());
            }
        }
    }

    fn is_ordered(&mut self, cpu: usize, address: u64) {
        let user = self.is_users(address);
        if let Some((invalidation, issued)) = self.order.store(cpu, user, self.at) {
            let met = format!("{invalidation:x?} of step {issued} may not be complete");
            self.wrong(Rule::Incomplete, met);
        }
    }

    fn issue(&mut self, cpu: usize, invalidation: Invalidation) {
        if let Some((owner, at)) = self.order.invalidate(cpu, invalidation, self.at) {
            let met = format!("the store of step {at} on CPU {owner} may not be visible");
            self.wrong(Rule::Unordered, met);
        }
    }

    fn complete(&mut self, invalidation: Invalidation, issued: Position) {
        match invalidation {
            Invalidation::Leaf(va) => {
                self.counters.dropped += self.stale.drop_address(va, false, issued);
            }
            Invalidation::Table(va) => {
                self.counters.dropped += self.stale.drop_address(va, true, issued);
            }
            Invalidation::Page(asid, va) => {
                if let Some(root) = self.asids.owner(asid) {
                    self.counters.dropped += self.stale.drop_page(root, va, issued);
                }
            }
            Invalidation::Asid(asid) => {
                self.asids.cleaned(asid, issued);
                if let Some(root) = self.asids.owner(asid) {
                    self.stale.clean(root, issued);
                }
            }
            Invalidation::All => {
                self.stale.clean_all(issued);
                for root in self.asids.all_cleaned(issued) {
                    self.stale.bind(root, issued);
                }
            }
        }
    }

    fn load(&mut self, cpu: usize, root: u64, asid: u16) {
        let (binding, wrong) = self.asids.load(cpu, root, asid, self.at);
        // Before, roots of Linux's own are loaded as well.
        let known = self.memory.is_some();
        if let Some((rule, met)) = wrong.filter(|_| known) {
            self.wrong(rule, met);
        }
        if let Some(binding) = binding {
            self.counters.asids += 1;
            if let Some(gone) = binding.gone {
                self.drop_tree(gone);
            }
            self.stale.bind(root, self.at);
        }
        if known && asid != 0 {
            self.load_tree(root);
        }
    }

    fn end_root(&mut self, frame: u64) {
        self.gone.remove(&frame);
        if self.asids.is_loaded(frame) {
            self.wrong(Rule::ZeroedInUse, "a CPU has it as its root".to_owned());
        }
        if self.asids.is_clean(frame) {
            self.asids.forget(frame);
        } else {
            self.asids.remove(frame, self.at);
        }
        self.stale.unbind(frame);
    }
}

/// Number of the block of memory that a frame is in, in bytes.
pub(super) const fn block_of(frame: u64) -> u64 {
    const BLOCK: u64 = ENTRIES * PAGE;
    frame & !(BLOCK - 1)
}
