// SPDX-License-Identifier: MIT OR Apache-2.0
//! A machine with shadow tables, and TLBs that hold every entry that they may.
//!
//! A walk of a tree that some CPU has may happen at any moment, so after each store the TLB holds
//! what a walk finds now besides what it held before. A walk may also read what a store has not
//! reached yet, until a DSB. An invalidation takes effect at the next DSB and does not help
//! against walks that came later.

mod check;
pub mod outer;
pub mod storage;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use donjon_core::translation::{Hardware, Step};

pub use check::{Leaf, leaves};

/// Bytes of a page.
pub const PAGE: u64 = 4096;
/// Bytes of a block.
pub const BLOCK: u64 = 2 << 20;
/// CPUs.
pub const CPUS: usize = 3;

/// Bits of a leaf that may change while it is valid: AP, AF, GP, UXN.
const PERMISSIONS: u64 = 1 << 6 | 1 << 7 | 1 << 10 | 1 << 50 | 1 << 54;

/// Where a table is used: for which ASID, at which level, from which address on.
type WalkPlace = (u16, u32, u64);

/// An invalidation.
#[derive(Clone, Copy, Debug)]
enum Drop {
    Page(u16, u64),
    Asid(u16),
    All,
}

/// Memory, TLBs, and what was wrong.
#[derive(Default)]
pub struct World {
    /// The arena, by words, and all other memory.
    tables: Vec<u64>,
    memory: HashMap<u64, u64>,
    /// What each CPU has in TTBR0_EL1.
    current: [u64; CPUS],
    /// Leaves in TLBs.
    tlb: BTreeMap<(u16, u64), BTreeSet<(u64, u64)>>,
    /// Tables that a walk may use, also from caches of walks.
    held: HashMap<u64, BTreeSet<WalkPlace>>,
    /// Stores that walks may not see yet: what stood there.
    unseen: Vec<(u64, u64)>,
    /// Invalidations that are not complete.
    issued: Vec<Drop>,
    /// What the tables are made of.
    pub arena: (u64, u64),
    /// What was wrong.
    pub wrong: Vec<String>,
    /// A kind of step that does nothing.
    pub lost: Option<fn(&Step) -> bool>,
    /// Steps so far.
    pub steps: u64,
}

impl World {
    /// A machine whose tables are made of `arena`, where anything may stand at first.
    pub fn new(arena: (u64, u64)) -> Self {
        Self {
            tables: vec![u64::MAX; ((arena.1 - arena.0) / 8) as usize],
            arena,
            ..Self::default()
        }
    }

    /// A word of memory.
    pub fn get(&self, address: u64) -> u64 {
        if self.in_arena(address) {
            return self.tables[((address - self.arena.0) / 8) as usize];
        }
        self.memory.get(&address).copied().unwrap_or(0)
    }

    fn put(&mut self, address: u64, value: u64) {
        let word = ((address - self.arena.0) / 8) as usize;
        self.tables[word] = value;
    }

    /// A store of Linux's, to memory of its own.
    pub fn set(&mut self, address: u64, value: u64) {
        self.memory.insert(address, value);
    }

    /// The roots that CPUs have, with their ASIDs.
    pub fn current(&self) -> impl Iterator<Item = (u64, u16)> + '_ {
        let values = self.current.iter().filter(|it| **it >> 48 != 0);
        values.map(|it| (it & 0xffff_ffff_f000, (it >> 48) as u16))
    }

    /// Leaves that TLBs hold, each with its ASID, address and size.
    pub fn cached(&self) -> impl Iterator<Item = (u16, u64, u64, u64)> + '_ {
        let all = self.tlb.iter();
        all.flat_map(|((asid, va), leaves)| {
            leaves.iter().map(|(leaf, size)| (*asid, *va, *leaf, *size))
        })
    }

    fn is_current(&self, asid: u16) -> bool {
        self.current.iter().any(|it| (it >> 48) as u16 == asid)
    }

    fn in_arena(&self, frame: u64) -> bool {
        (self.arena.0..self.arena.1).contains(&frame)
    }

    /// A walk finds `descriptor` in a table used at `place`, for the entry `index`.
    fn walk(&mut self, place: WalkPlace, index: u64, descriptor: u64) {
        let (asid, level, base) = place;
        let shift = 39 - 9 * level;
        let va = base + (index << shift);
        if descriptor & 1 == 0 {
            return;
        }
        if level < 3 && descriptor & 2 != 0 {
            let below = descriptor & 0xffff_ffff_f000;
            let place = (asid, level + 1, va);
            if self.held.entry(below).or_default().insert(place) {
                for index in 0..512 {
                    let descriptor = self.get(below + index * 8);
                    self.walk(place, index, descriptor);
                }
            }
            return;
        }
        let size = 1 << shift;
        let near = self.tlb.range((asid, va & !(BLOCK - 1))..(asid, va + size));
        let others: Vec<u64> = near
            .flat_map(|((_, at), all)| all.iter().map(move |it| (*at, *it)))
            .filter(|(at, (_, other))| at + other > va)
            .filter(|(at, (leaf, other))| {
                *other != size || *at != va || (leaf ^ descriptor) & !PERMISSIONS != 0
            })
            .map(|(_, (leaf, _))| leaf)
            .collect();
        if let Some(other) = others.first() {
            self.wrong.push(format!(
                "ASID {asid}: {va:#x} is {other:#x} and {descriptor:#x} at once"
            ));
        }
        let leaves = self.tlb.entry((asid, va)).or_default();
        leaves.insert((descriptor, 1 << shift));
    }

    /// Everything that walks may find in an entry with a value.
    fn walks(&mut self, entry: u64, descriptor: u64) {
        let places = self.held.get(&(entry & !0xfff)).cloned();
        for place in places.unwrap_or_default() {
            if self.is_current(place.0) {
                self.walk(place, entry % PAGE / 8, descriptor);
            }
        }
    }

    fn write(&mut self, entry: u64, value: u64) {
        if !self.in_arena(entry) {
            self.wrong.push(format!("a store to {entry:#x}"));
            return;
        }
        let old = self.get(entry);
        self.unseen.push((entry, old));
        self.put(entry, value);
        self.walks(entry, value);
    }

    fn zero(&mut self, frame: u64) {
        if !self.in_arena(frame) {
            self.wrong.push(format!("zeros to {frame:#x}"));
            return;
        }
        if let Some(places) = self.held.get(&frame).filter(|it| !it.is_empty()) {
            self.wrong.push(format!(
                "{frame:#x} is used again while it is held as {places:x?}"
            ));
        }
        for index in 0..512 {
            let entry = frame + index * 8;
            let old = self.get(entry);
            if old != 0 {
                self.unseen.push((entry, old));
                self.put(entry, 0);
            }
        }
    }

    fn complete(&mut self) {
        let issued = std::mem::take(&mut self.issued);
        for drop in &issued {
            self.forget(*drop);
        }
        // Walks bring back at once what they see, and what they do not see changed yet.
        for drop in issued {
            match drop {
                Drop::Page(asid, va) => self.walk_to(asid, va),
                Drop::Asid(asid) => self.load_all(|it| it == asid),
                Drop::All => self.load_all(|_| true),
            }
        }
        for (entry, old) in std::mem::take(&mut self.unseen) {
            self.walks(entry, old);
        }
    }

    fn forget(&mut self, drop: Drop) {
        match drop {
            Drop::Page(asid, va) => {
                let within = |at: u64, size: u64| at <= va && va < at + size;
                for at in [va, va & !(BLOCK - 1)] {
                    if let Some(leaves) = self.tlb.get_mut(&(asid, at)) {
                        leaves.retain(|(_, size)| !within(at, *size));
                    }
                }
            }
            Drop::Asid(asid) => {
                self.tlb.retain(|(it, _), _| *it != asid);
                for places in self.held.values_mut() {
                    places.retain(|place| place.0 != asid);
                }
            }
            Drop::All => {
                self.tlb.clear();
                self.held.clear();
            }
        }
    }

    fn load_all(&mut self, which: impl Fn(u16) -> bool) {
        for root in self.current {
            if which((root >> 48) as u16) {
                self.load(root);
            }
        }
    }

    /// A walk for one address of an ASID.
    fn walk_to(&mut self, asid: u16, va: u64) {
        let roots: Vec<u64> = self
            .current()
            .filter(|it| it.1 == asid)
            .map(|it| it.0)
            .collect();
        for root in roots {
            let (mut table, mut level) = (root, 0);
            loop {
                let shift = 39 - 9 * level;
                let index = va >> shift & 511;
                let descriptor = self.get(table + index * 8);
                if descriptor & 3 != 3 || level == 3 {
                    let base = va >> shift >> 9 << 9 << shift;
                    self.walk((asid, level, base), index, descriptor);
                    break;
                }
                table = descriptor & 0xffff_ffff_f000;
                level += 1;
            }
        }
    }

    fn load(&mut self, ttbr0: u64) {
        let (root, asid) = (ttbr0 & 0xffff_ffff_f000, (ttbr0 >> 48) as u16);
        if asid == 0 {
            return;
        }
        let place = (asid, 0, 0);
        self.held.entry(root).or_default().insert(place);
        for index in 0..512 {
            let descriptor = self.get(root + index * 8);
            self.walk_again(place, index, descriptor);
        }
    }

    /// A walk that also looks below tables that are held already.
    fn walk_again(&mut self, place: WalkPlace, index: u64, descriptor: u64) {
        let (asid, level, base) = place;
        if descriptor & 3 == 3 && level < 3 {
            let below = descriptor & 0xffff_ffff_f000;
            let place = (asid, level + 1, base + (index << (39 - 9 * level)));
            self.held.entry(below).or_default().insert(place);
            for index in 0..512 {
                let descriptor = self.get(below + index * 8);
                if descriptor & 1 != 0 {
                    self.walk_again(place, index, descriptor);
                }
            }
        } else {
            self.walk(place, index, descriptor);
        }
    }
}

impl Hardware for World {
    fn read(&self, entry: u64) -> u64 {
        self.get(entry)
    }

    fn perform(&mut self, step: Step) {
        self.steps += 1;
        if self.lost.is_some_and(|lost| lost(&step)) {
            return;
        }
        match step {
            Step::Write { entry, value } => self.write(entry, value),
            Step::ZeroFrame(frame) => self.zero(frame),
            Step::ZeroGroups { frame, groups } => {
                for index in (0..512).filter(|it| groups >> (it / 8) & 1 == 0) {
                    let left = self.get(frame + index * 8);
                    if left != 0 {
                        self.wrong.push(format!("{left:#x} is left in {frame:#x}"));
                    }
                }
                self.zero(frame);
            }
            Step::CleanFrame(_) => {}
            // Until now a walk could read what stood there.
            Step::BarrierStore => {
                for (entry, old) in std::mem::take(&mut self.unseen) {
                    self.walks(entry, old);
                }
            }
            Step::Barrier => {
                self.complete();
            }
            Step::InvalidatePage { asid, va } => self.issued.push(Drop::Page(asid, va)),
            Step::InvalidateAsid(asid) => self.issued.push(Drop::Asid(asid)),
            Step::InvalidateAll => self.issued.push(Drop::All),
            Step::InvalidateLeaf { .. } | Step::InvalidateTable { .. } => {
                self.wrong.push(format!("{step:?}, which is the kernel's"));
            }
            Step::LoadRoot { cpu, ttbr0 } => {
                self.current[cpu] = ttbr0;
                self.load(ttbr0);
            }
        }
    }
}
