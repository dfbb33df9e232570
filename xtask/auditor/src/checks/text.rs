// SPDX-License-Identifier: MIT OR Apache-2.0
//! I8: every word that EL1 can execute in the outer view.

use std::collections::BTreeMap;

use donjon_abi::layout::GATE_ENTRY_WRITE;

use super::World;
use crate::code::{kind, writes_tcr};
use crate::denied;
use crate::descriptor::PAGE;
use crate::report::Violation;
use crate::walk::Leaf;

/// What was found, and how much was looked at.
pub struct Scan {
    /// Words that must not be there.
    pub violations: Vec<Violation>,
    /// Frames scanned.
    pub pages: usize,
    /// Bytes scanned.
    pub bytes: u64,
}

/// Scans each executable frame once.
pub fn check(world: &World<'_>) -> Scan {
    let mut frames: BTreeMap<u64, &Leaf> = BTreeMap::new();
    let executable = world
        .walks
        .leaves
        .iter()
        .filter(|it| it.space.outer() && it.attributes().executable_at_el1());
    for leaf in executable {
        for pa in (leaf.pa..leaf.pa + leaf.size()).step_by(PAGE as usize) {
            frames.entry(pa).or_insert(leaf);
        }
    }
    let mut scan = Scan {
        violations: Vec::new(),
        pages: frames.len(),
        bytes: frames.len() as u64 * PAGE,
    };
    if world.snapshot.facts.allowed.is_empty() {
        let text = "the allow-list is empty: no word of the code was judged".to_owned();
        scan.violations
            .push(Violation::plain("I8", "auditor", text));
    }
    for (pa, leaf) in frames {
        page(world, pa, leaf, &mut scan);
    }
    scan
}

fn page(world: &World<'_>, pa: u64, leaf: &Leaf, scan: &mut Scan) {
    let Some(words) = world.snapshot.memory.page(pa) else {
        let text = "executable, and no RAM";
        scan.violations
            .push(leaf.violates("I8", pa, &world.owner(pa), text));
        return;
    };
    let is_gate = world.frames.gate == Some(pa);
    let words = words.iter().flat_map(|it| [*it as u32, (it >> 32) as u32]);
    let mut writes = Vec::new();
    for (at, word) in (pa..).step_by(4).zip(words) {
        let Some(kind) = kind(word) else { continue };
        if is_gate && writes_tcr(word) {
            writes.push(at);
        } else if let Some(why) = denied::why(kind) {
            let text = format!("the word {word:#010x}, {kind:?}, must never be executable: {why}");
            scan.violations
                .push(leaf.violates("I8", at, &world.owner(pa), &text));
        } else if !world.snapshot.facts.allowed.allows(kind) {
            let text = format!("the word {word:#010x}, {kind:?}, is not on the allow-list");
            scan.violations
                .push(leaf.violates("I8", at, &world.owner(pa), &text));
        }
    }
    let entry = pa + GATE_ENTRY_WRITE % PAGE;
    if is_gate && (writes.len() != world.snapshot.facts.gate_writes || !writes.contains(&entry)) {
        let text = format!("the gate page writes TCR_EL1 at {writes:x?}");
        scan.violations
            .push(leaf.violates("I8", entry, "gate", &text));
    }
}
