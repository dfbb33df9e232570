// SPDX-License-Identifier: MIT OR Apache-2.0
//! I16: the inner domain's text and constants, the gate page and the page where CPUs arrive are
//! those of the boot image, byte for byte.

use std::collections::BTreeSet;
use std::mem::offset_of;

use donjon_abi::boot_info::Arrival;
use donjon_abi::layout::{GATE, GATE_TLBI_LIST, PAGE_SIZE, TEXT_WINDOW};
use donjon_abi::tcr::RESERVED_ASID;

use super::World;
use crate::descriptor::PAGE;
use crate::frames::block_root;
use crate::memory::Memory;
use crate::report::Violation;
use crate::walk::{Leaf, Space, Walks, translate};

/// SCTLR_EL1 of a CPU that arrives, bits with one right value: M, C, I, WXN and EE.
const SCTLR_FIXED: u64 = 1 | 1 << 2 | 1 << 12 | 1 << 19 | 1 << 25;
/// The right value.
const SCTLR_VALUE: u64 = 1 | 1 << 2 | 1 << 12;
/// Address bits of an operand of TLBI by VA.
const OPERAND: u64 = (1 << 44) - 1;

/// Checks all of them.
pub fn check(world: &World<'_>) -> Vec<Violation> {
    let mut violations = segments(world);
    violations.extend(window(world));
    violations.extend(list(world));
    violations.extend(stay(world));
    violations.extend(arrival(world));
    violations
}

fn wrong(world: &World<'_>, va: u64, pa: Option<u64>, text: String) -> Violation {
    let owner = pa.map_or("inner".to_owned(), |it| world.owner(it));
    Violation {
        va: Some(va),
        pa,
        ..Violation::plain("I16", &owner, text)
    }
}

/// First byte in which the page at `pa` is not `expected`.
fn difference(memory: &dyn Memory, pa: u64, expected: &[u8]) -> Option<usize> {
    let Some(words) = memory.page(pa) else {
        return Some(0);
    };
    let bytes = words.iter().flat_map(|it| it.to_le_bytes());
    bytes.zip(expected).position(|(is, right)| is != *right)
}

/// What the boot image has.
fn segments(world: &World<'_>) -> Vec<Violation> {
    let mut violations = Vec::new();
    let image = &world.snapshot.facts.image;
    if image.constants.is_empty() {
        let text = "the boot image has no text to compare with".to_owned();
        violations.push(Violation::plain("I16", "auditor", text));
    }
    for constant in &image.constants {
        let pages = (constant.address..).step_by(PAGE as usize);
        for (va, expected) in pages.zip(constant.bytes.chunks(PAGE as usize)) {
            let Some(pa) = inner_address(world, va) else {
                let text = "text or constants of the inner domain are not mapped".to_owned();
                violations.push(wrong(world, va, None, text));
                continue;
            };
            // The boot stage fills in the list.
            let end = match va {
                GATE if image.has_list => GATE_TLBI_LIST,
                _ => expected.len(),
            };
            let memory = &*world.snapshot.memory;
            if let Some(at) = difference(memory, pa, expected.get(..end).unwrap_or(expected)) {
                let text = "text or constants of the inner domain are not the boot image's";
                let at = at as u64;
                violations.push(wrong(world, va + at, Some(pa + at), text.to_owned()));
            }
        }
    }
    violations
}

fn inner_address(world: &World<'_>, va: u64) -> Option<u64> {
    let leaf = translate(&*world.snapshot.memory, world.root, va, true)?;
    Some(leaf.pa + (va - leaf.va))
}

/// What else is mapped among the text is zero, and nothing of the inner half is executable
/// elsewhere.
fn window(world: &World<'_>) -> Vec<Violation> {
    let mut violations = Vec::new();
    let known: BTreeSet<u64> =
        world
            .snapshot
            .facts
            .image
            .constants
            .iter()
            .fold(BTreeSet::new(), |mut all, it| {
                let end = it.address + it.bytes.len() as u64;
                all.extend((it.address..end).step_by(PAGE as usize));
                all
            });
    let inner = |it: &&Leaf| it.space == Space::InnerOnly;
    for leaf in world.walks.leaves.iter().filter(inner) {
        let in_text = (TEXT_WINDOW..GATE).contains(&leaf.va);
        let attributes = leaf.attributes();
        if attributes.executable_at_el1() && (!in_text || attributes.writable()) {
            let text = "an inner mapping is executable that is no text, or writable";
            violations.push(leaf.violates("I16", leaf.pa, &world.owner(leaf.pa), text));
        }
        if !in_text {
            continue;
        }
        for page in (0..leaf.size()).step_by(PAGE as usize) {
            let (va, pa) = (leaf.va + page, leaf.pa + page);
            let zeros = [0; PAGE as usize];
            let stray = !known.contains(&va);
            if stray && let Some(at) = difference(&*world.snapshot.memory, pa, &zeros) {
                let at = at as u64;
                let text = "among the inner domain's text is what the boot image has not";
                violations.push(wrong(world, va + at, Some(pa + at), text.to_owned()));
            }
        }
    }
    violations
}

/// The gate's list of addresses to invalidate: each inner leaf, and nothing else; or no address,
/// where there are more leaves than it has room for.
fn list(world: &World<'_>) -> Vec<Violation> {
    if !world.snapshot.facts.image.has_list {
        return Vec::new();
    }
    let gate = inner_address(world, GATE);
    let words = gate.and_then(|it| world.snapshot.memory.page(it));
    let words = words.map_or(Vec::new(), |it| it[GATE_TLBI_LIST / 8..].to_vec());
    let mut listed: Vec<u64> = words.iter().copied().take_while(|it| *it != 0).collect();
    let leaves = world.walks.leaves.iter();
    let mut expected: Vec<u64> = leaves
        .filter(|it| it.space == Space::InnerOnly)
        .map(|it| it.va >> 12 & OPERAND)
        .collect();
    listed.sort_unstable();
    expected.sort_unstable();
    // An empty list invalidates everything: there is no room for more.
    let complete = listed == expected && words.len() > listed.len();
    if complete || (listed.is_empty() && expected.len() >= words.len()) {
        return Vec::new();
    }
    let text = format!(
        "the gate's list has {} addresses, and the inner half {} mappings, not all of them the same",
        listed.len(),
        expected.len()
    );
    let at = GATE + GATE_TLBI_LIST as u64;
    vec![wrong(
        world,
        at,
        gate.map(|it| it + GATE_TLBI_LIST as u64),
        text,
    )]
}

/// The page that stays, but for the data that the boot stage filled in.
fn stay(world: &World<'_>) -> Vec<Violation> {
    let facts = &world.snapshot.facts;
    let mut violations = Vec::new();
    let filled =
        facts.loaded + facts.image.stay.arrival.start..facts.loaded + facts.image.stay.arrival.end;
    let expected = facts.image.stay.at(facts.loaded);
    let pages = facts.stay.clone().step_by(PAGE as usize);
    for (pa, expected) in pages.zip(expected.chunks(PAGE as usize)) {
        let Some(words) = world.snapshot.memory.page(pa) else {
            continue;
        };
        let bytes = words.iter().flat_map(|it| it.to_le_bytes());
        let stray = (pa..)
            .zip(bytes.zip(expected))
            .find(|(at, (is, right))| is != *right && !filled.contains(at));
        if let Some((at, _)) = stray {
            let text = "the page where CPUs arrive is not the boot image's".to_owned();
            violations.push(wrong(world, at, Some(at), text));
        }
    }
    violations
}

/// The data of CPUs that arrive.
fn arrival(world: &World<'_>) -> Vec<Violation> {
    let facts = &world.snapshot.facts;
    let at = facts.loaded + facts.image.stay.arrival.start;
    let word = |offset: usize| world.snapshot.memory.word(at + offset as u64).unwrap_or(0);
    let mut violations = Vec::new();
    let mut equal = |name: &str, offset: usize, fixed: u64, right: u64| {
        let value = word(offset);
        if value & fixed != right {
            let at = at + offset as u64;
            let text = format!("a CPU that arrives gets {name} {value:#x} and not {right:#x}");
            violations.push(wrong(world, at, Some(at), text));
        }
    };
    let root = block_root(facts) | u64::from(RESERVED_ASID) << 48;
    equal("TTBR1_EL1", offset_of!(Arrival, ttbr1), u64::MAX, root);
    equal(
        "SCTLR_EL1",
        offset_of!(Arrival, sctlr),
        SCTLR_FIXED,
        SCTLR_VALUE,
    );
    equal(
        "the entry",
        offset_of!(Arrival, entry),
        u64::MAX,
        facts.image.entry,
    );
    let lower = word(offset_of!(Arrival, ttbr0));
    if let Some(text) = map_of_arrival(world, lower) {
        let at = at + offset_of!(Arrival, ttbr0) as u64;
        violations.push(wrong(world, at, Some(at), text));
    }
    violations
}

/// What is wrong with the lower half of a CPU that arrives: the page that stays, onto itself.
fn map_of_arrival(world: &World<'_>, root: u64) -> Option<String> {
    let facts = &world.snapshot.facts;
    let inner = |pa: u64| facts.inner.iter().any(|it| it.contains(&pa));
    if !root.is_multiple_of(PAGE) || !inner(root) {
        return Some(format!(
            "a CPU that arrives gets TTBR0_EL1 {root:#x}, no inner table"
        ));
    }
    let mut walks = Walks::new(&*world.snapshot.memory);
    walks.user(root);
    let pages = (facts.stay.end - facts.stay.start) / PAGE_SIZE;
    let itself = |it: &Leaf| {
        it.va == it.pa
            && it.level == 3
            && facts.stay.contains(&it.pa)
            && !it.attributes().writable()
    };
    let right = walks.tables.keys().all(|it| inner(*it))
        && walks.leaves.len() as u64 == pages
        && walks.leaves.iter().all(itself);
    (!right).then(|| "the lower half of a CPU that arrives is not the page that stays".to_owned())
}
