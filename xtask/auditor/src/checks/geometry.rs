// SPDX-License-Identifier: MIT OR Apache-2.0
//! I14: where gate and vectors lead when TCR_EL1 is forged, over the tables as they are.
//!
//! Written from the manual (DDI 0487, D8.2 and D8.3), and in the attacker's favour where it leaves
//! a choice: sizes out of range are clamped to any limit that a CPU may have, base address bits
//! that a geometry loses come out as they are or as zero, hierarchical permissions do not count,
//! and a descriptor that is read from a frame in a role it was not made for is an escape, whatever
//! it says today.

use std::collections::BTreeSet;

use donjon_abi::layout::{GATE, GATE_ENTRY, GATE_ENTRY_WRITE, GATE_REPAIR, TABLE_BLOCK_SIZE};

use super::World;
use crate::descriptor::PAGE;
use crate::frames::Class;
use crate::report::Violation;
use crate::walk::{Space, translate};

/// How tables are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Geometry {
    /// log2 of a page: 12, 14 or 16.
    page: u32,
    /// Bits of the range.
    range: u32,
    /// Whether descriptors have 52-bit addresses.
    large: bool,
}

enum WalkEnd {
    Fault,
    Harmless,
    Escape { pa: u64, why: &'static str },
}

/// Violations, and how many combinations of geometry and address were tried.
pub fn check(world: &World<'_>) -> (Vec<Violation>, usize) {
    let vectors = world.snapshot.facts.linux.vectors;
    let mut probes = vec![GATE, GATE_ENTRY, GATE_ENTRY_WRITE + 4, GATE_REPAIR];
    probes.extend((0..8).map(|slot| vectors + slot * 0x80));
    let mut tried = 0;
    let mut escapes = BTreeSet::new();
    for va in probes {
        let Some(leaf) = translate(&*world.snapshot.memory, world.root, va, true) else {
            continue;
        };
        let expected = leaf.pa + (va - leaf.va);
        for geometry in geometries() {
            for base in bases(world.root, geometry) {
                tried += 1;
                if let WalkEnd::Escape { pa, why } = walk(world, geometry, base, va, expected) {
                    escapes.insert((va, geometry, pa, why));
                }
            }
        }
    }
    let violations = escapes.into_iter().map(|(va, geometry, pa, why)| {
        let Geometry { page, range, large } = geometry;
        let text = format!(
            "with {} KiB pages, a range of {range} bits and {}-bit addresses forged, {why}",
            1 << (page - 10),
            if large { 52 } else { 48 },
        );
        Violation {
            va: Some(va),
            pa: Some(pa),
            ..Violation::plain("I14", &world.owner(pa), text)
        }
    });
    (violations.collect(), tried)
}

/// Every geometry that some value of TG1, T1SZ and DS has on some CPU.
fn geometries() -> BTreeSet<Geometry> {
    let mut all = BTreeSet::new();
    for page in [12, 14, 16] {
        for large in [false, true] {
            // LVA lowers the minimum of 64 KiB whatever the address size.
            let minimums: &[u32] = match (page, large) {
                (16, _) => &[12, 16],
                (_, true) => &[12],
                (_, false) => &[16],
            };
            let last = if page == 16 { 47 } else { 48 };
            for written in 0..64_u32 {
                for (least, most) in minimums.iter().flat_map(|it| [(*it, 39), (*it, last)]) {
                    let range = 64 - written.clamp(least, most);
                    all.insert(Geometry { page, range, large });
                }
            }
        }
    }
    all
}

impl Geometry {
    const fn stride(self) -> u32 {
        self.page - 3
    }

    /// Tables that a full walk reads.
    const fn tables(self) -> u32 {
        (self.range - self.page).div_ceil(self.stride())
    }

    /// log2 of the entries of the first table.
    const fn first(self) -> u32 {
        self.range - self.page - self.stride() * (self.tables() - 1)
    }

    /// The address in a descriptor.
    const fn address(self, raw: u64) -> u64 {
        let low = !((1 << self.page) - 1);
        match (self.large, self.page) {
            (false, _) => raw & 0x0000_ffff_ffff_ffff & low,
            (true, 16) => raw & 0x0000_ffff_ffff_ffff & low | (raw >> 12 & 15) << 48,
            (true, _) => raw & 0x0003_ffff_ffff_ffff & low | (raw >> 8 & 3) << 50,
        }
    }

    /// Whether a block may stand in a table of `level`.
    fn has_block(self, level: u32) -> bool {
        let least = match (self.page, self.large) {
            (12, false) => 1,
            (12, true) => 0,
            (_, false) => 2,
            (_, true) => 1,
        };
        (least..3).contains(&level)
    }
}

/// What a root's address may be taken as, when the first table must be aligned to its size.
fn bases(root: u64, geometry: Geometry) -> Vec<u64> {
    let alignment = (8_u64 << geometry.first()).max(64);
    let lost = root & (alignment - 1);
    let mut bases = vec![root - lost];
    let mut part = lost;
    while part != 0 {
        bases.push(root - lost + part);
        part = (part - 1) & lost;
    }
    bases
}

fn walk(world: &World<'_>, geometry: Geometry, base: u64, va: u64, expected: u64) -> WalkEnd {
    if va >> geometry.range != u64::MAX >> geometry.range {
        return WalkEnd::Fault;
    }
    let mut table = base;
    let mut width = geometry.first();
    for left in (0..geometry.tables()).rev() {
        // A walk of more than four tables begins at level -1, which has no number of its own here.
        let level = 3_u32.saturating_sub(left);
        let shift = geometry.page + geometry.stride() * left;
        let at = table + 8 * (va >> shift & ((1 << width) - 1));
        width = geometry.stride();
        let Some(raw) = world.snapshot.memory.word(at) else {
            return WalkEnd::Fault;
        };
        if !in_role(world, geometry, at, left) {
            let why = "a descriptor is read from a frame that was not made for it";
            return WalkEnd::Escape { pa: at, why };
        }
        let next = geometry.address(raw);
        let is_leaf = match (raw & 3, left) {
            (3, 0) => true,
            (3, _) => false,
            (1, 1..=3) if geometry.has_block(level) => true,
            _ => return WalkEnd::Fault,
        };
        if is_leaf {
            let size = 1_u64 << shift;
            let pa = next & !(size - 1) | va & (size - 1);
            // PXN in the leaf.
            if raw >> 53 & 1 == 1 || pa == expected {
                return WalkEnd::Harmless;
            }
            return match world.frames.class(pa) {
                Class::Nothing => WalkEnd::Fault,
                _ => WalkEnd::Escape {
                    pa,
                    why: "other memory is executed",
                },
            };
        }
        table = next;
    }
    WalkEnd::Fault
}

/// Whether what stands at `at` is the inner domain's business in this role: in the block, or in a
/// table of the kernel that the true geometry reads at this level too.
fn in_role(world: &World<'_>, geometry: Geometry, at: u64, left: u32) -> bool {
    let block = world.frames.table_block;
    if (block..block + TABLE_BLOCK_SIZE).contains(&at) {
        return true;
    }
    let table = world.walks.tables.get(&(at & !(PAGE - 1)));
    // Addresses of 52 bits change what high bits mean, which the rules keep at zero.
    geometry.page == 12
        && table.is_some_and(|it| it.space == Space::Kernel && u32::from(it.level) + left == 3)
}
