// SPDX-License-Identifier: MIT OR Apache-2.0
//! Walks all tables and checks the invariants of the threat model.
//!
//! Every walk begins at a root and believes nothing but memory and the types of frames.

use std::collections::{BTreeMap, BTreeSet};

use donjon_core::translation::address::Level;
use donjon_core::translation::frames::{FrameTable, FrameType};

use super::caches::{Caches, Leaf};
use super::memory::{Frames, PAGE, Violation};
use super::small;

const ADDRESS: u64 = 0x0000_ffff_ffff_f000;
const LEVELS: [Level; 4] = [Level::Zero, Level::One, Level::Two, Level::Three];

/// Leaves by address.
pub type Mappings = BTreeMap<u64, Leaf>;

/// What a walk over everything found.
#[derive(Default)]
pub struct Walked {
    /// All mappings.
    pub mappings: Mappings,
    /// The entry that leads to each table.
    pub parents: BTreeMap<u64, u64>,
    /// What is wrong.
    pub violations: Vec<Violation>,
}

/// Walks from the kernel's root.
pub fn walk_all(frames: &Frames, types: &FrameTable<'_>) -> Walked {
    let mut walk_all = Walked::default();
    let root = small::ROOT;
    for slot in 0..256 {
        let [outer, wide] = [slot, 256 + slot].map(|entry| frames.read(root + entry * 8));
        if outer != wide {
            let text = format!("I9: the halves differ in slot {slot}: {outer:#x} and {wide:#x}");
            walk_all.violations.push(text);
        }
    }
    let outer = (0xffff_8000_0000_0000, 256);
    walk_all.walk(frames, types, root, outer, 0);
    walk_all
}

impl Walked {
    fn walk(
        &mut self,
        frames: &Frames,
        types: &FrameTable<'_>,
        table: u64,
        (va, entries): (u64, u64),
        level: u8,
    ) {
        let expected = FrameType::table(LEVELS[usize::from(level)]);
        if types.get(table) != Some(expected) {
            let found = types.get(table);
            self.violations.push(format!(
                "I1: {table:#x} at {va:#x} is {found:?}, not {expected:?}"
            ));
            return;
        }
        for (index, descriptor) in frames.valid(table).filter(|(index, _)| *index < entries) {
            let va = va + (index << (39 - 9 * u32::from(level)));
            if level < 3 && descriptor & 0b11 == 0b11 {
                let below = descriptor & ADDRESS;
                let entry = table + index * 8;
                if let Some(other) = self.parents.insert(below, entry) {
                    self.violations.push(format!(
                        "I1: {other:#x} and {entry:#x} both lead to table {below:#x}"
                    ));
                    continue;
                }
                self.walk(frames, types, below, (va, 512), level + 1);
            } else {
                let leaf = Leaf {
                    va,
                    level,
                    descriptor,
                };
                check_leaf(types, leaf, &mut self.violations);
                self.mappings.insert(va, leaf);
            }
        }
    }
}

/// I2 to I5, I9 and I10 for one leaf.
fn check_leaf(types: &FrameTable<'_>, leaf: Leaf, violations: &mut Vec<Violation>) {
    let mut wrong = |text: &str| violations.push(format!("{text}: {leaf:x?}"));
    if leaf.descriptor & 1 << 11 != 0 {
        wrong("I9: a leaf of the kernel that is not global");
    }
    if leaf.is_executable() && leaf.is_writable() {
        wrong("I4: writable and executable");
    }
    if leaf.descriptor & 1 << 52 != 0 {
        wrong("I10: contiguous");
    }
    // A pool's block holds tables of all classes, all under the same rule.
    let kind = |page: u64| {
        let class = types.get(page);
        class.map(|class| matches!(class, FrameType::Ordinary | FrameType::Claimed))
    };
    let first = kind(leaf.output());
    if leaf.level == 2 && leaf.pages().any(|page| kind(page) != first) {
        wrong("I10: a block over several types");
    }
    if leaf.level < 2 {
        wrong("I10: a block of level 1");
    }
    for page in leaf.pages() {
        if let Some(text) = fault(types, page, leaf) {
            wrong(text);
            return;
        }
    }
}

/// What is wrong about a leaf that shows a page.
fn fault(types: &FrameTable<'_>, page: u64, leaf: Leaf) -> Option<&'static str> {
    use FrameType as T;
    let shareability = leaf.descriptor >> 8 & 0b11;
    let is_cached = matches!(leaf.descriptor >> 2 & 0b111, 0 | 1);
    let write_back = is_cached && shareability == 0b11;
    let device = small::DEVICE..small::DEVICE + 2 * PAGE;
    match types.get(page) {
        None if !device.contains(&page) => Some("I15: neither memory nor a device"),
        None if leaf.is_executable() => Some("I4: an executable device"),
        None => None,
        Some(T::Ordinary | T::Claimed) if leaf.is_executable() => Some("I4: executable data"),
        Some(T::Ordinary | T::Claimed) if is_cached && shareability != 0b11 => {
            Some("I10: cached, and not inner shareable")
        }
        Some(T::Ordinary | T::Claimed) => None,
        Some(T::Inner | T::Gate) => Some("I3: an inner frame"),
        Some(T::Private) => Some("I19: a private frame"),
        Some(_) if leaf.is_writable() => Some("I2, I4: writable"),
        Some(_) if !write_back => Some("I10: other memory attributes"),
        Some(T::KernelText | T::KernelVectors | T::ModuleText) => None,
        Some(_) if leaf.is_executable() => Some("I4: executable, but not text"),
        Some(_) => None,
    }
}

/// I12: whatever a TLB may hold is harmless with the types that frames have now.
pub fn check_caches(types: &FrameTable<'_>, caches: &Caches) -> Vec<Violation> {
    let mut violations = Vec::new();
    // A kernel leaf is held at two addresses.
    let mut seen = BTreeSet::new();
    for leaf in caches.leaves() {
        if seen.insert((leaf.level, leaf.descriptor)) {
            check_held(types, leaf, &mut violations);
        }
    }
    for (table, role) in caches.tables() {
        let level = LEVELS[usize::from(role.level)];
        let class = FrameType::table(level);
        let found = types.get(table);
        // A free frame is zero: a walk ends there.
        if found != Some(class) && found != Some(FrameType::PoolFree) {
            violations.push(format!("I12: {table:#x}, {found:?}, is held as {role:x?}"));
        }
    }
    violations
}

/// Checks the leaves that have just come into the TLBs, and forgets that they are new.
pub fn check_recent(types: &FrameTable<'_>, caches: &mut Caches) -> Vec<Violation> {
    let mut violations = Vec::new();
    for leaf in std::mem::take(&mut caches.recent) {
        check_held(types, leaf, &mut violations);
    }
    violations
}

fn check_held(types: &FrameTable<'_>, leaf: Leaf, violations: &mut Vec<Violation>) {
    if leaf.descriptor & 1 << 52 != 0 {
        violations.push(format!("I10: {leaf:x?} is held, contiguous"));
    }
    for page in leaf.pages() {
        let class = types.get(page);
        if let Some(text) = fault(types, page, leaf) {
            violations.push(format!(
                "I12: {leaf:x?} is held and {page:#x} is {class:?}: {text}"
            ));
            return;
        }
    }
}
