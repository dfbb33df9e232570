// SPDX-License-Identifier: MIT OR Apache-2.0
//! A randomized hostile outer domain, with a reference copy of memory.
//!
//! It makes every call about kernel tables, mostly with arguments that make sense in the state that
//! it is in, often with one thing wrong. Few frames and few addresses, so that they meet again.

use donjon_abi::call::Reason;
use donjon_core::checks::Checks;
use donjon_core::kernel_tables::PoolKind;
use donjon_core::pools::Pools;
use donjon_core::pools::Progress;
use donjon_core::translation::frames::FrameType;

use super::counters::Counters;
use super::expected::View;
use super::invariants;
use super::memory::{Frames, PAGE, SmallMachine, Violation};
use super::random::Random;
use super::small::{self, BLOCK};

/// The address in a descriptor.
const ADDRESS: u64 = 0x0000_ffff_ffff_f000;

/// The attacker, and what memory should look like after all its calls.
pub struct Outer {
    random: Random,
    expected: Frames,
    /// Whether each answer is compared with the contract's.
    pub compare: bool,
    /// What happened.
    pub counters: Counters,
    violations: Vec<Violation>,
}

impl Outer {
    /// An attacker on a machine as it is now, who chooses by `random`.
    pub fn new(random: Random, machine: &SmallMachine) -> Self {
        Self {
            random,
            expected: machine.frames.clone(),
            compare: true,
            counters: Counters::default(),
            violations: Vec::new(),
        }
    }

    /// Whether there is nothing left to choose by.
    pub const fn is_over(&self) -> bool {
        self.random.is_over()
    }

    /// Makes one call and checks all that can be seen right after it.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub fn step<C: Checks>(
        &mut self,
        machine: &mut SmallMachine,
        pools: &mut Pools<'_, C>,
    ) -> Result<(), Vec<Violation>> {
        self.counters.calls += 1;
        let refused = self.counters.refused;
        let changed = match self.random.below(1000) {
            0..600 => self.write_leaf(machine, pools),
            600..830 => self.write_link(machine, pools),
            830..950 => self.release(machine, pools),
            950..965 => self.write_anything(machine, pools),
            965..985 => self.pool(machine, pools),
            _ => self.seal(machine, pools),
        };
        machine.expect_nothing_pending();
        self.violations.append(&mut machine.violations);
        let types = pools.tables.frames();
        let recent = invariants::check_recent(types, &mut machine.caches);
        self.violations.extend(recent);
        if changed && self.counters.refused == refused {
            let held = invariants::check_caches(types, &machine.caches);
            self.violations.extend(held);
        }
        self.violations_or_ok()
    }

    /// Walks everything and compares memory with what it should be.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub fn walk_all<C: Checks>(
        &mut self,
        machine: &SmallMachine,
        pools: &Pools<'_, C>,
    ) -> Result<invariants::Walked, Vec<Violation>> {
        let mut found = invariants::walk_all(&machine.frames, pools.tables.frames());
        self.violations.append(&mut found.violations);
        let expected = invariants::walk_all(&self.expected, pools.tables.frames());
        if found.mappings != expected.mappings {
            self.violations
                .push("mappings are not what the calls asked for".into());
        }
        if let Some(address) = machine.frames.difference(&self.expected) {
            self.violations
                .push(format!("memory differs at {address:#x}"));
        }
        self.violations_or_ok().map(|()| found)
    }

    fn violations_or_ok(&mut self) -> Result<(), Vec<Violation>> {
        match std::mem::take(&mut self.violations) {
            none if none.is_empty() => Ok(()),
            violations => Err(violations),
        }
    }

    fn agree(
        &mut self,
        call: (&str, u64, u64),
        contract: bool,
        answer: &Result<u64, impl core::fmt::Debug>,
    ) {
        self.counters.refused += u64::from(answer.is_err());
        if self.compare && contract != answer.is_ok() {
            self.violations.push(format!(
                "{call:x?}: {answer:?}, and the contract says {contract}"
            ));
        }
    }

    fn write<C: Checks>(
        &mut self,
        machine: &mut SmallMachine,
        pools: &mut Pools<'_, C>,
        entry: u64,
        value: u64,
    ) -> bool {
        let contract = view(machine, pools).write(entry, value);
        let old = machine.frames.read(entry & !7);
        let answer = pools.tables.write(machine, entry, value);
        self.agree(("write", entry, value), contract, &answer);
        let Ok(answer) = answer else { return false };
        if answer != old {
            self.violations
                .push(format!("write {entry:#x} gave {answer:#x}, not {old:#x}"));
        }
        self.expected.write(entry, value);
        if entry & !(PAGE - 1) == small::ROOT {
            self.expected.write(entry + 256 * 8, value);
        }
        true
    }

    fn write_leaf<C: Checks>(
        &mut self,
        machine: &mut SmallMachine,
        pools: &mut Pools<'_, C>,
    ) -> bool {
        let Some(table) = self.table(pools, FrameType::KernelTable3) else {
            return self.write_link(machine, pools);
        };
        let index = self.page_index(table);
        let value = match self.random.below(5) {
            0 | 1 => self.random.one_of(&[0, 0, 0xdead_0000]),
            _ => self.leaf(),
        };
        let entry = table + index * 8;
        let value = match machine.frames.read(entry) {
            // Most changes of live entries are changes of permissions.
            old if old & 1 == 1 && value & 1 == 1 && !self.random.once_in(4) => {
                old ^ 1
                    << self
                        .random
                        .one_of(&[6, 7, 10, 50, 51, 54, 55, 53, 2, 11, 12, 52])
            }
            _ => value,
        };
        let written = self.write(machine, pools, entry, value);
        self.counters.leaves += u64::from(written);
        // Module text goes back to its pool this way.
        written && value & 1 == 0
    }

    fn write_link<C: Checks>(
        &mut self,
        machine: &mut SmallMachine,
        pools: &mut Pools<'_, C>,
    ) -> bool {
        let class = match self.random.below(12) {
            0 => FrameType::KernelTable0,
            1..5 => FrameType::KernelTable1,
            _ => FrameType::KernelTable2,
        };
        let Some(table) = self.table(pools, class) else {
            return false;
        };
        let own = table == small::IMAGE_L1 || table == small::IMAGE_L2;
        let index = match class {
            FrameType::KernelTable0 => self.random.one_of(&[1, 15, 129, 130, 232, 384]),
            _ if table == small::LINEAR_L2 => 4 + self.random.below(8),
            // What the image hangs on goes once in a long while.
            _ if own && !self.random.once_in(300) => self.random.one_of(&[1, 2, 511]),
            _ => self.random.one_of(&[0, 1, 511]),
        };
        let entry = table + index * 8;
        let live = machine.frames.read(entry) & 1 == 1;
        let value = if live && !self.random.once_in(8) {
            0
        } else if class == FrameType::KernelTable2 && self.random.once_in(2) {
            self.leaf() & !0b10 & !(BLOCK - PAGE)
        } else {
            let extra = self
                .random
                .one_of(&[0, 0, 0, 1 << 59, 1 << 60, 1 << 10, 1 << 61, 1 << 2]);
            self.frame() | 0b11 | extra
        };
        let kept_linear = live && table == small::LINEAR_L2 && !self.random.once_in(30);
        if kept_linear || !self.write(machine, pools, entry, value) {
            return false;
        }
        match value & 0b11 {
            0b11 => self.counters.links += 1,
            _ => self.counters.unlinks += u64::from(live),
        }
        true
    }

    fn write_anything<C: Checks>(
        &mut self,
        machine: &mut SmallMachine,
        pools: &mut Pools<'_, C>,
    ) -> bool {
        let frame = match self.random.below(4) {
            0 => self.random.any(),
            1 => small::kernel(self.random.below(10)),
            2 => self.target(),
            _ => self.frame(),
        };
        let entry = frame.wrapping_add(self.random.below(PAGE));
        let entry = if self.random.once_in(3) {
            entry
        } else {
            entry & !7
        };
        let value = self.random.any() & self.random.any();
        let inner_half = entry & !(PAGE - 1) == small::ROOT && entry % PAGE >= PAGE / 2;
        self.write(machine, pools, entry, value) && !inner_half
    }

    fn release<C: Checks>(&mut self, machine: &mut SmallMachine, pools: &mut Pools<'_, C>) -> bool {
        let frame = match self.random.below(40) {
            0 => self.target(),
            1 => small::kernel(self.random.below(10)),
            2 => self.frame() + 8,
            _ => self.frame(),
        };
        let contract = view(machine, pools).release(frame);
        let answer = pools.tables.release(machine, frame).map(|()| 0);
        self.agree(("release", frame, 0), contract, &answer);
        if answer.is_ok() {
            self.expected.zero(frame);
            self.counters.releases += 1;
        }
        true
    }

    fn pool<C: Checks>(&mut self, machine: &mut SmallMachine, pools: &mut Pools<'_, C>) -> bool {
        let block = small::RAM + self.random.one_of(&[3, 3, 3, 4, 5, 0, 1, 6, 7]) * BLOCK;
        let kind = match (block - small::RAM) / BLOCK {
            5 => PoolKind::Text,
            6 | 7 => PoolKind::Private,
            _ => PoolKind::Tables,
        };
        let is_private = kind == PoolKind::Private;
        let slices = self.random.one_of(&[1, 4, 100]);
        if self.random.once_in(3) {
            let was_private = pools.tables.frames().get(block) == Some(FrameType::Private);
            let removed = slice_by_slice(slices, || pools.remove(machine, block));
            self.counters.shrunk += u64::from(removed && !is_private);
            self.counters.returned += u64::from(removed && was_private);
        } else if is_private && self.random.once_in(2) {
            let _ = pools.add_waiting(machine, block);
        } else {
            let added = slice_by_slice(slices, || pools.add(machine, block, kind, None));
            self.counters.grown += u64::from(added && !is_private);
            self.counters.hidden += u64::from(added && is_private);
        }
        // Entries of the linear map change, of private memory those of all blocks at once.
        for block in [block, small::RAM + 6 * BLOCK, small::RAM + 7 * BLOCK] {
            let entry = small::LINEAR_L2 + (block - small::RAM) / BLOCK * 8;
            let (old, new) = (self.expected.read(entry), machine.frames.read(entry));
            let is_alike = (old ^ new) & !(1 << 7 | 1 << 51) == 0;
            let is_hidden = is_private && (old == 0 || new == 0);
            if is_alike || is_hidden && (new | old) & ADDRESS == block {
                self.expected.write(entry, new);
            }
        }
        true
    }

    fn seal<C: Checks>(&mut self, machine: &mut SmallMachine, pools: &mut Pools<'_, C>) -> bool {
        let va = small::IMAGE + self.random.one_of(&[0, 1, 3, 8, 8, 9, 9, 10, 11, 12]) * PAGE;
        let Ok(seal) = pools.tables.seal_begin(machine, va) else {
            return false;
        };
        machine.caches.must_not_write(seal.to);
        let entry = seal.entry;
        let interrupted = self.random.once_in(10) && self.write(machine, pools, entry, 0);
        if self.random.once_in(5) {
            pools.tables.seal_abort(seal);
        } else if pools.tables.seal_finish(machine, seal).is_ok() {
            if interrupted {
                self.violations.push("sealed what was gone".into());
            }
            self.expected.write(entry, machine.frames.read(entry));
            self.counters.sealed += 1;
        }
        true
    }

    /// A frame that may be a table.
    fn frame(&mut self) -> u64 {
        if self.random.once_in(8) {
            return small::ORDINARY + self.random.below(3) * PAGE;
        }
        small::POOL + (small::TAKEN + self.random.below(16)) * PAGE
    }

    /// A table of a class.
    fn table<C: Checks>(&mut self, pools: &Pools<'_, C>, class: FrameType) -> Option<u64> {
        let own = [
            small::ROOT,
            small::LINEAR_L2,
            small::LINEAR_L3,
            small::IMAGE_L1,
            small::IMAGE_L2,
            small::IMAGE_L2,
            small::IMAGE_L3,
            small::IMAGE_L3,
            small::IMAGE_L3,
        ];
        for _ in 0..24 {
            let frame = if self.random.once_in(3) {
                self.random.one_of(&own)
            } else {
                self.frame()
            };
            if pools.tables.frames().get(frame) == Some(class) {
                return Some(frame);
            }
        }
        None
    }

    fn page_index(&mut self, table: u64) -> u64 {
        if table == small::IMAGE_L3 {
            return match self.random.below(60) {
                0 => self.random.below(8),
                _ => 8 + self.random.below(4),
            };
        }
        self.random.one_of(&[0, 1, 2, 511])
    }

    /// A physical page that may be mapped.
    fn target(&mut self) -> u64 {
        match self.random.below(16) {
            0 => small::kernel(self.random.below(8)),
            1 => self.frame(),
            2 => small::TEXT_POOL + self.random.below(3) * PAGE,
            3 => small::DEVICE + self.random.below(3) * PAGE,
            4 => self
                .random
                .one_of(&[0, 1 << 32, small::RAM + small::BLOCKS * BLOCK]),
            5..8 => small::RAM + (3 + self.random.below(5)) * BLOCK + self.random.below(3) * PAGE,
            _ => small::DATA + self.random.below(4) * PAGE,
        }
    }

    /// A leaf that is right, or nearly.
    fn leaf(&mut self) -> u64 {
        let mut leaf = self.target() | small::KERNEL_PAGE;
        if self.random.once_in(3) {
            leaf |= 1 << 7;
        }
        if self.random.once_in(6) {
            leaf |= 1 << 51;
        }
        if self.random.once_in(8) {
            leaf = leaf & !(0b111 << 2) | self.random.below(8) << 2;
        }
        if self.random.once_in(8) {
            leaf ^= 1 << self.random.below(64);
        }
        leaf
    }
}

fn view<'a, C: Checks>(machine: &'a SmallMachine, pools: &'a Pools<'_, C>) -> View<'a> {
    View {
        frames: &machine.frames,
        types: pools.tables.frames(),
    }
}

/// Calls until the work is done or refused, at most `slices` times; whether it is done.
fn slice_by_slice(slices: u64, mut call: impl FnMut() -> Result<Progress, Reason>) -> bool {
    let mut last = Ok(Progress::Again);
    for _ in 0..slices {
        last = call();
        if last != Ok(Progress::Again) {
            break;
        }
    }
    last == Ok(Progress::Done)
}
