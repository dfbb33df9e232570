// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the tables say, and whether it is what the invariants ask for: written from
//! `docs/invariants.md` and the descriptor formats, with nothing of the inner domain's code.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{
    BETWEEN, BLOCK, BSS_PAGES, CONSTANT_PAGES, FLASH, GATE, HOLE, IMAGE, IMAGE_VA, INNER, Memory,
    PAGE, RAM, SECOND_BANK, STAY, TABLE_POOL, TABLE_POOL_END, TEXT_PAGES, TEXT_POOL, UART,
    block_page, linear, root,
};

/// What an address shows: physical address, size, all other bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// First physical address.
    pub physical: u64,
    /// Bytes.
    pub size: u64,
    /// The descriptor's other bits.
    pub bits: u64,
}

/// A table and how it was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// Frame of the table.
    pub frame: u64,
    /// Level of the table.
    pub level: u32,
}

/// A tree: its leaves by virtual address, and its tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// Leaves.
    pub leaves: BTreeMap<u64, Leaf>,
    /// Tables in the order of their addresses; one that is reached twice is there twice.
    pub tables: Vec<Table>,
}

/// The lower half of the kernel's root and what is below.
pub fn tree(memory: &Memory) -> Tree {
    let mut tree = Tree::default();
    below(memory, root(), 0, 0xffff_8000_0000_0000, &mut tree);
    tree
}

/// The leaves of [`tree`].
pub fn translations(memory: &Memory) -> BTreeMap<u64, Leaf> {
    tree(memory).leaves
}

fn below(memory: &Memory, table: u64, level: u32, base: u64, tree: &mut Tree) {
    tree.tables.push(Table {
        frame: table,
        level,
    });
    let entries = if level == 0 { 256 } else { 512 };
    for index in 0..entries {
        let raw = memory.get(table + index * 8);
        let size = 1 << (39 - 9 * level);
        let va = base + index * size;
        match (raw & 3, level) {
            (3, 0..3) => below(memory, raw & 0xffff_ffff_f000, level + 1, va, tree),
            (1, 1..3) | (3, 3) => {
                let physical = raw & 0xffff_ffff_f000 & !(size - 1);
                let leaf = Leaf {
                    physical,
                    size,
                    bits: raw & !physical,
                };
                tree.leaves.insert(va, leaf);
            }
            _ => {}
        }
    }
}

impl Leaf {
    fn writable(self) -> bool {
        self.bits >> 7 & 1 == 0 || self.bits >> 51 & 1 == 1
    }

    fn executable_at_el1(self) -> bool {
        self.bits >> 53 & 1 == 0
    }

    fn global(self) -> bool {
        self.bits >> 11 & 1 == 0
    }

    fn frames(self) -> impl Iterator<Item = u64> {
        (0..self.size / PAGE).map(move |page| self.physical + page * PAGE)
    }
}

fn image(pages: Range<u64>) -> Range<u64> {
    IMAGE + pages.start * PAGE..IMAGE + pages.end * PAGE
}

fn is_pool(frame: u64) -> bool {
    (TABLE_POOL..TABLE_POOL_END).contains(&frame)
}

fn is_device(frame: u64) -> bool {
    (FLASH..FLASH + BLOCK).contains(&frame) || [UART, BETWEEN].contains(&frame)
}

fn is_ram(frame: u64) -> bool {
    (RAM..HOLE).contains(&frame) || (SECOND_BANK..SECOND_BANK + BLOCK).contains(&frame)
}

/// Frames that one leaf may show together.
fn kind(frame: u64) -> u32 {
    match frame {
        _ if image(TEXT_PAGES).contains(&frame) => 1,
        _ if image(CONSTANT_PAGES).contains(&frame) => 2,
        _ if is_pool(frame) => 3,
        _ if (TEXT_POOL..TEXT_POOL + BLOCK).contains(&frame) => 4,
        _ if (INNER..INNER + BLOCK).contains(&frame) || frame == STAY => 5,
        _ if is_ram(frame) => 6,
        _ => 7,
    }
}

/// Everything that is not as it must be after the hand-over.
pub fn violations(memory: &Memory) -> Vec<String> {
    let kernel = tree(memory);
    let mut found = Vec::new();
    check_halves(memory, &mut found);
    for (va, leaf) in &kernel.leaves {
        check(*va, *leaf, &mut found);
    }
    check_tables(&kernel.tables, &mut found);
    check_code(&kernel, &mut found);
    check_pools(memory, &kernel, &mut found);
    found
}

fn check(va: u64, leaf: Leaf, found: &mut Vec<String>) {
    let gate = leaf.physical == GATE && va == donjon_abi::layout::GATE;
    let mut say = |invariant: &str| found.push(format!("{invariant}: {va:#x} {leaf:x?}"));
    if leaf.executable_at_el1() && leaf.writable() {
        say("I4");
    }
    if !leaf.global() {
        say("I9");
    }
    let first = kind(leaf.physical);
    for frame in leaf.frames() {
        let kind = kind(frame);
        if kind != first {
            say("I10");
        }
        if kind == 5 && !gate {
            say("I3");
        }
        if matches!(kind, 1..=4) && leaf.writable() {
            say(if kind == 3 { "I2" } else { "I4" });
        }
        if kind == 7 && !is_device(frame) {
            say("I15");
        }
        if matches!(kind, 1..=4) && leaf.bits & 0x31c != 0x300 {
            say("I10 attributes");
        }
    }
}

fn check_halves(memory: &Memory, found: &mut Vec<String>) {
    for slot in 0..256 {
        let (outer, inner) = (
            memory.get(root() + slot * 8),
            memory.get(root() + (256 + slot) * 8),
        );
        let inner_only = slot == 48 || slot == 63;
        let right = if inner_only {
            outer == 0
        } else {
            outer == inner
        };
        if !right {
            found.push(format!("I9: slot {slot}: {outer:#x} and {inner:#x}"));
        }
    }
}

/// Checks that each table has one parent, and is in the pool or in the table block.
fn check_tables(tables: &[Table], found: &mut Vec<String>) {
    for (index, table) in tables.iter().enumerate() {
        let again = tables[..index].iter().any(|it| it.frame == table.frame);
        let block = (block_page(0)..block_page(16)).contains(&table.frame);
        if again || !(is_pool(table.frame) || block) {
            found.push(format!("I1: {table:x?}"));
        }
    }
}

/// Text and gate are executable at one address each, and nothing else is.
fn check_code(kernel: &Tree, found: &mut Vec<String>) {
    let mut executable: Vec<(u64, u64)> = kernel
        .leaves
        .iter()
        .filter(|(_, leaf)| leaf.executable_at_el1())
        .flat_map(|(va, leaf)| {
            leaf.frames()
                .map(move |frame| (va + (frame - leaf.physical), frame))
        })
        .collect();
    executable.sort_unstable();
    let text = TEXT_PAGES.map(|page| (IMAGE_VA + page * PAGE, IMAGE + page * PAGE));
    let mut expected: Vec<(u64, u64)> = text.chain([(donjon_abi::layout::GATE, GATE)]).collect();
    expected.sort_unstable();
    if executable != expected {
        found.push(format!("I13: executable {executable:x?}"));
    }
}

/// Frames of the pool that are no tables are zero, and the linear map shows the pool as blocks.
fn check_pools(memory: &Memory, kernel: &Tree, found: &mut Vec<String>) {
    for frame in (TABLE_POOL..TABLE_POOL_END).step_by(PAGE as usize) {
        let table = kernel.tables.iter().any(|it| it.frame == frame);
        if !table && !memory.is_zero(frame) {
            found.push(format!("pool: {frame:#x} is not zero"));
        }
    }
    for block in [TABLE_POOL, TABLE_POOL + BLOCK, TEXT_POOL] {
        let leaf = kernel.leaves.get(&linear(block));
        if leaf.is_none_or(|leaf| leaf.size != BLOCK || leaf.writable()) {
            found.push(format!("I2: the linear map shows {block:#x} as {leaf:x?}"));
        }
    }
    // Tables that stood here are copied and ordinary.
    let early = image(BSS_PAGES);
    if kernel.tables.iter().any(|it| early.contains(&it.frame)) {
        found.push("I1: an early table is in use".to_owned());
    }
}
