// SPDX-License-Identifier: MIT OR Apache-2.0
//! One CPU's control registers and TLB.

use std::collections::BTreeSet;

use donjon_abi::tcr;

/// What of TCR_EL1 matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tcr {
    /// T1SZ selects the inner view.
    pub wide: bool,
    /// The current ASID is that of TTBR1_EL1, the reserved one.
    pub a1: bool,
    /// No walks of user tables.
    pub epd0: bool,
    /// The upper range has a forged geometry: a walk may find whatever the attacker prepared.
    pub foreign: bool,
}

impl Tcr {
    /// The model's view of a register value: anything that is neither view's is foreign.
    ///
    /// While a compartment runs, TBI0 is 0 as well. It says whether the upper byte of an address of
    /// the lower range counts, and nothing of which entry translates the rest (DDI 0487, D24.2,
    /// TCR_EL1). A TLB may keep it with an entry: those under the ASID of compartments are made
    /// with TBI0 = 0 alone, because elsewhere that ASID is current with EPD0 set, or not at all.
    pub const fn of_register(value: u64) -> Self {
        let known = tcr::A1 | tcr::EPD0 | 0x3f << tcr::T1SZ_SHIFT;
        let size = value >> tcr::T1SZ_SHIFT & 0x3f;
        Self {
            wide: size == tcr::T1SZ_INNER,
            a1: value & tcr::A1 != 0,
            epd0: value & tcr::EPD0 != 0,
            foreign: (value ^ tcr::OUTER) & !known != 0 && value != tcr::INSIDE
                || (size != tcr::T1SZ_INNER && size != tcr::T1SZ_OUTER),
        }
    }

    /// Every combination.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..16_u8).map(|bits| Self {
            wide: bits & 1 != 0,
            a1: bits & 2 != 0,
            epd0: bits & 4 != 0,
            foreign: bits & 8 != 0,
        })
    }
}

/// How far a T1SZ that a TLB has cached reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeCaching {
    /// Only through entries of upper tables that were read with it, which belong to an ASID. A
    /// new walk from the root uses the register.
    InEntries,
    /// Any walk may use any T1SZ that was in effect since the last TLBI VMALLE1. This is what
    /// the letter of the manual leaves open: it calls for an invalidation after each change of
    /// such a field (R_VNRFW, K1.2.3).
    Anywhere,
}

/// What the hardware promises beyond the architecture.
#[derive(Clone, Copy, Debug)]
pub struct Assumptions {
    /// A translation sees either all old or all new fields of TCR_EL1.
    pub single_point_of_observation: bool,
    /// How far a cached T1SZ reaches.
    pub size_caching: SizeCaching,
}

/// Which rules of the layout hold.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Leaves that only the inner view has are non-global.
    pub inner_leaves_non_global: bool,
    /// The outer root entry of an inner-only slot is invalid.
    pub twin_invalid: bool,
    /// Leaves of user tables are non-global.
    pub user_leaves_non_global: bool,
    /// The reserved ASID is never in TTBR0_EL1.
    pub reserved_asid_kept: bool,
    /// The ASID of compartments is never a process's.
    pub compartment_asid_kept: bool,
}

impl Rules {
    /// Rules of which each is kept.
    pub const KEPT: Self = Self {
        inner_leaves_non_global: true,
        twin_invalid: true,
        user_leaves_non_global: true,
        reserved_asid_kept: true,
        compartment_asid_kept: true,
    };
}

/// What a TLBI names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalidation {
    /// VMALLE1: everything.
    All,
    /// VAAE1: the inner page under every ASID, upper tables included.
    InnerPage,
    /// VAALE1: the same, leaves only.
    InnerLeaf,
    /// ASIDE1: everything non-global of one ASID.
    Asid(u16),
}

/// What must not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Breach {
    /// The outer domain hits a translation to inner memory.
    OuterReachesInner,
    /// The inner domain hits a translation that the outer domain forged at an inner address.
    InnerReachesForged,
    /// A stray access of the inner domain to the lower range hits the user's memory instead of
    /// faulting. Isolation holds; what fails is a second line of defence that modes with an own
    /// ASID could have.
    InnerReachesUser,
    /// The outer domain hits a translation to a compartment's memory.
    OuterReachesCompartment,
    /// A compartment hits a translation to memory of the other compartment.
    CompartmentReachesOther,
}

/// What the root in TTBR0_EL1 maps at the page of the lower range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lower {
    /// A process's memory.
    Process,
    /// Memory of one of two compartments.
    Compartment(bool),
}

/// Where an address leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Target {
    /// Inner memory, from an inner-only page.
    Inner,
    /// The attacker's memory, from the same page.
    Forged,
    /// A user's memory, from the lower range.
    User,
    /// A compartment's memory, from there.
    Private(bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Entry {
    target: Target,
    /// An upper table on the way there, not the translation itself.
    is_table: bool,
    /// ASID of the entry; none for a global one.
    asid: Option<u16>,
}

impl Entry {
    fn matches(self, asid: u16) -> bool {
        self.asid.is_none_or(|it| it == asid)
    }

    fn is_named_by(self, invalidation: Invalidation) -> bool {
        let inner_page = matches!(self.target, Target::Inner | Target::Forged);
        match invalidation {
            Invalidation::All => true,
            Invalidation::InnerPage => inner_page,
            Invalidation::InnerLeaf => inner_page && !self.is_table,
            Invalidation::Asid(asid) => self.asid == Some(asid),
        }
    }
}

/// Whose instructions a CPU executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// Linux's, or a process's.
    Outer,
    /// The inner domain's.
    Inner,
    /// A compartment's.
    Compartment(bool),
}

/// The CPU. Registers are the values written since the last synchronization, newest last.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Cpu {
    tcr: Vec<Tcr>,
    /// ASID and root in TTBR0_EL1. Both are written at once, and seen at once (D8.2.3).
    user: Vec<(u16, Lower)>,
    /// Which compartment was entered last.
    pub last: Option<bool>,
    /// T1SZ values that may be cached apart from entries.
    sizes: BTreeSet<bool>,
    entries: BTreeSet<Entry>,
    /// Entries that an incomplete TLBI names.
    dying: BTreeSet<Entry>,
}

/// What holds for a whole exploration.
#[derive(Clone, Copy, Debug)]
pub(super) struct World {
    pub assumptions: Assumptions,
    pub rules: Rules,
}

impl Cpu {
    pub fn new(tcr: Tcr, user_asid: u16, world: &World) -> Self {
        let mut cpu = Self {
            tcr: vec![tcr],
            user: vec![(user_asid, Lower::Process)],
            last: None,
            sizes: BTreeSet::new(),
            entries: BTreeSet::new(),
            dying: BTreeSet::new(),
        };
        cpu.fill(world);
        cpu
    }

    /// The value that MRS returns.
    pub fn tcr(&self) -> Tcr {
        self.tcr[self.tcr.len() - 1]
    }

    pub fn write_tcr(&mut self, value: Tcr, world: &World) {
        self.tcr.push(value);
        self.fill(world);
    }

    /// What TTBR0_EL1 holds.
    pub fn user(&self) -> (u16, Lower) {
        self.user[self.user.len() - 1]
    }

    pub fn write_user(&mut self, asid: u16, root: Lower, world: &World) {
        self.user.push((asid, root));
        self.fill(world);
    }

    pub fn synchronize(&mut self, world: &World) {
        self.tcr.drain(..self.tcr.len() - 1);
        self.user.drain(..self.user.len() - 1);
        self.fill(world);
    }

    pub fn invalidate(&mut self, invalidation: Invalidation, world: &World) {
        let (named, kept) = self
            .entries
            .iter()
            .partition(|entry| entry.is_named_by(invalidation));
        let named: BTreeSet<Entry> = named;
        self.dying.extend(named);
        self.entries = kept;
        if invalidation == Invalidation::All {
            self.sizes.clear();
        }
        self.fill(world);
    }

    pub fn complete_invalidation(&mut self, world: &World) {
        self.dying.clear();
        self.fill(world);
    }

    /// Breaches that an access of whoever runs may lead to now.
    pub fn breaches(&self, who: Who, world: &World) -> BTreeSet<Breach> {
        let mut breaches = BTreeSet::new();
        for (_, asid, _) in self.effective(world) {
            for entry in self.entries.union(&self.dying) {
                if entry.is_table || !entry.matches(asid) {
                    continue;
                }
                breaches.extend(match (who, entry.target) {
                    (Who::Outer, Target::Inner) => Some(Breach::OuterReachesInner),
                    (Who::Outer, Target::Private(_)) => Some(Breach::OuterReachesCompartment),
                    (Who::Inner, Target::Forged) => Some(Breach::InnerReachesForged),
                    (Who::Inner, Target::User) => Some(Breach::InnerReachesUser),
                    // What it hits of the upper range, EL0 has no permission for.
                    (Who::Compartment(it), Target::Private(other)) if it != other => {
                        Some(Breach::CompartmentReachesOther)
                    }
                    (Who::Compartment(_), Target::User) => Some(Breach::CompartmentReachesOther),
                    _ => None,
                });
            }
        }
        breaches
    }

    /// Control values, current ASID and lower root that a translation may observe now.
    fn effective(&self, world: &World) -> BTreeSet<(Tcr, u16, Lower)> {
        let mixed: Vec<Tcr> = if world.assumptions.single_point_of_observation {
            self.tcr.clone()
        } else {
            let may = |field: fn(&Tcr) -> bool, value| self.tcr.iter().any(|it| field(it) == value);
            Tcr::all()
                .filter(|it| {
                    may(|it| it.wide, it.wide)
                        && may(|it| it.a1, it.a1)
                        && may(|it| it.epd0, it.epd0)
                        && may(|it| it.foreign, it.foreign)
                })
                .collect()
        };
        let mut effective = BTreeSet::new();
        for tcr in mixed {
            for &(user, root) in &self.user {
                let asid = if tcr.a1 { tcr::RESERVED_ASID } else { user };
                effective.insert((tcr, asid, root));
            }
        }
        effective
    }

    /// Caches everything that a walk may find now.
    fn fill(&mut self, world: &World) {
        loop {
            let before = (self.entries.len(), self.dying.len(), self.sizes.len());
            for (tcr, asid, root) in self.effective(world) {
                let mut sizes = BTreeSet::from([tcr.wide]);
                if world.assumptions.size_caching == SizeCaching::Anywhere {
                    self.sizes.insert(tcr.wide);
                    sizes.extend(&self.sizes);
                }
                for wide in sizes {
                    let tcr = Tcr { wide, ..tcr };
                    walk_from_root(&mut self.entries, tcr, (asid, root), &world.rules);
                }
                // What comes of an entry that a TLBI names is gone with it.
                walk_from_tables(&mut self.entries, asid, &world.rules);
                walk_from_tables(&mut self.dying, asid, &world.rules);
            }
            if before == (self.entries.len(), self.dying.len(), self.sizes.len()) {
                return;
            }
        }
    }
}

fn walk_from_root(
    entries: &mut BTreeSet<Entry>,
    tcr: Tcr,
    (asid, root): (u16, Lower),
    rules: &Rules,
) {
    if tcr.foreign || (!tcr.wide && !rules.twin_invalid) {
        cache(entries, Target::Forged, asid, rules);
    }
    if tcr.wide && !tcr.foreign {
        cache(entries, Target::Inner, asid, rules);
    }
    if !tcr.epd0 {
        let target = match root {
            Lower::Process => Target::User,
            Lower::Compartment(which) => Target::Private(which),
        };
        cache(entries, target, asid, rules);
    }
}

/// Walks that begin at a cached upper table ask for neither T1SZ nor EPD0.
fn walk_from_tables(entries: &mut BTreeSet<Entry>, asid: u16, rules: &Rules) {
    let reachable: Vec<Target> = entries
        .iter()
        .filter(|entry| entry.is_table && entry.matches(asid))
        .map(|entry| entry.target)
        .collect();
    for target in reachable {
        cache(entries, target, asid, rules);
    }
}

fn cache(entries: &mut BTreeSet<Entry>, target: Target, asid: u16, rules: &Rules) {
    let mut insert = |is_table, asid| {
        entries.insert(Entry {
            target,
            is_table,
            asid,
        });
    };
    insert(true, Some(asid));
    insert(false, Some(asid));
    // What the attacker writes may be global as well.
    let may_be_global = match target {
        Target::Forged => true,
        Target::Inner => !rules.inner_leaves_non_global,
        Target::User => !rules.user_leaves_non_global,
        Target::Private(_) => false,
    };
    if may_be_global {
        insert(false, None);
    }
}
