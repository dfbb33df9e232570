// SPDX-License-Identifier: MIT OR Apache-2.0
//! I9: both halves of the root. I14: the block of upper tables.

use std::collections::BTreeMap;

use donjon_abi::layout::{
    GATE, GATE_L1_PAGE, GATE_L2_PAGE, GATE_L3_PAGE, GATE_SLOT, INNER_SLOT, LINEAR_L1_PAGE,
    PHYSMAP_SLOT, ROOT_HALF, ROOT_PAGE, SLOT_SIZE, TABLE_BLOCK_SIZE,
};

use super::World;
use crate::descriptor::{ENTRIES, Entry, PAGE, read, shift};
use crate::frames::{block_linear, block_root};
use crate::report::Violation;
use crate::walk::UPPER;

/// Slots of the inner domain alone.
const INNER_ONLY: [usize; 2] = [PHYSMAP_SLOT, INNER_SLOT];

/// What two halves that disagree are reported as; see `audit::live`.
pub const HALVES: &str = "the two halves of the root disagree";

/// Checks both halves, slot by slot.
pub fn halves(world: &World<'_>) -> Vec<Violation> {
    let Some(words) = world.snapshot.memory.page(world.root) else {
        return Vec::new();
    };
    let (outer, inner) = words.split_at(ROOT_HALF);
    let mut violations = Vec::new();
    for (slot, (outer, inner)) in outer.iter().zip(inner).enumerate() {
        let text = match (INNER_ONLY.contains(&slot), outer & 1 == 1, inner & 1 == 1) {
            (true, true, _) => "the outer entry of an inner-only slot is valid".to_owned(),
            (true, false, _) | (false, false, false) => continue,
            (false, _, _) if outer == inner => continue,
            (false, _, _) => format!("{HALVES}: slot {slot} has {outer:#x} and {inner:#x}"),
        };
        violations.push(Violation {
            invariant: "I9",
            va: Some(UPPER + slot as u64 * SLOT_SIZE),
            pa: Some(world.root + 8 * slot as u64),
            level: Some(0),
            descriptor: Some(*outer),
            owner: "root".to_owned(),
            text,
        });
    }
    violations
}

/// Checks what is in the table block.
pub fn block(world: &World<'_>) -> Vec<Violation> {
    let facts = &world.snapshot.facts;
    let block = world.frames.table_block;
    let page = |number: u64| block + number * PAGE;
    let mut violations = Vec::new();
    let mut wrong = |pa: u64, va: Option<u64>, text: String| {
        violations.push(Violation {
            va,
            pa: Some(pa),
            ..Violation::plain("I14", &world.owner(pa), text)
        });
    };
    if !block.is_multiple_of(TABLE_BLOCK_SIZE) {
        wrong(block, None, "the table block is not aligned".to_owned());
    }
    if world.root != block_root(facts) {
        wrong(
            world.root,
            None,
            "the root is not in its page of the block".to_owned(),
        );
    }
    let word = |pa| world.snapshot.memory.word(pa);
    let index = |level: u8| GATE >> shift(level) & (ENTRIES - 1);
    // Which page has which level of the gate does not matter, as long as each has one.
    let mut gate_pages = BTreeMap::new();
    let mut entry = page(ROOT_PAGE) + 8 * GATE_SLOT as u64;
    for level in 1..=3 {
        let next = word(entry).map(|raw| read(raw, level - 1));
        let mut places = [GATE_L1_PAGE, GATE_L2_PAGE, GATE_L3_PAGE].into_iter();
        let place = places.find(|it| next == Some(Entry::Table(page(*it))));
        let Some(place) = place.filter(|it| gate_pages.insert(*it, level).is_none()) else {
            let text = format!("the gate's table of level {level} is not in a page for it");
            wrong(entry, Some(GATE), text);
            break;
        };
        entry = page(place) + 8 * index(level);
    }
    let linear = word(page(ROOT_PAGE)).map(|raw| read(raw, 0));
    if linear != Some(Entry::Table(block_linear(facts))) {
        let text = "the linear map's table of level 1 is not in its page".to_owned();
        wrong(page(ROOT_PAGE), Some(UPPER), text);
    }
    for number in 0..TABLE_BLOCK_SIZE / PAGE {
        let Some(words) = world.snapshot.memory.page(page(number)) else {
            continue;
        };
        if [ROOT_PAGE, LINEAR_L1_PAGE].contains(&number) {
            continue;
        }
        // The gate's tables have the one entry that leads to it.
        let allowed = gate_pages.get(&number).map(|level| index(*level));
        let stray = (0..).zip(words.iter());
        for (at, raw) in stray.filter(|(at, raw)| **raw != 0 && Some(*at) != allowed) {
            let text = format!("page {number} of the block has a stray word {raw:#x}");
            wrong(page(number) + 8 * at, None, text);
        }
    }
    violations
}
