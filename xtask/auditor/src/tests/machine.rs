// SPDX-License-Identifier: MIT OR Apache-2.0
//! A small machine with correct tables.

mod contents;
mod fixed;
mod layout;

use std::collections::BTreeMap;
use std::rc::Rc;

use donjon_abi::layout::{GATE_SLOT, LINEAR_L1_PAGE, ROOT_PAGE};

use crate::capture::Fixed;
use crate::descriptor::{Entry, PAGE, read, shift};
use crate::memory::{Memory, Words};
use crate::metadata::KERNEL_ROOT;
use crate::snapshot::{Cpu, Smmu, Snapshot, Usb};

pub use fixed::off;
use fixed::{cpu, fixed};
pub use layout::*;

/// Which tree a mapping goes to.
#[derive(Clone, Copy)]
pub enum Tree {
    Kernel,
    Inner,
    User(usize),
    /// Tables of a CPU that arrives.
    Lower,
}

#[derive(Clone)]
pub struct Pages(pub BTreeMap<u64, Words>);

impl Memory for Pages {
    fn page(&self, address: u64) -> Option<Box<Words>> {
        let in_ram = (RAM..RAM + RAM_SIZE).contains(&address);
        in_ram.then(|| Box::new(self.0.get(&address).copied().unwrap_or([0; 512])))
    }
}

pub struct TestMachine {
    pub memory: Pages,
    pub cpus: Vec<Cpu>,
    pub fixed: Fixed,
    pub roots: Vec<u64>,
    pub smmu: Option<Smmu>,
    pub usb: Option<Usb>,
    next_table: u64,
    next_user: u64,
    next_inner: u64,
}

impl TestMachine {
    pub fn clean() -> Self {
        let mut machine = Self {
            memory: Pages(BTreeMap::new()),
            cpus: Vec::new(),
            fixed: fixed(),
            roots: Vec::new(),
            smmu: None,
            usb: None,
            next_table: POOL,
            next_user: ARENA,
            next_inner: REGION + PAGE,
        };
        machine.linear_map();
        machine.image();
        machine.modules_and_devices();
        machine.inner();
        machine.arrival();
        machine.metadata();
        machine.compartment();
        for asid in [0x31, 0x32] {
            let root = machine.table(Tree::User(0), 0);
            machine.roots.push(root);
            machine.set_tree(asid, root);
            let tree = Tree::User(machine.roots.len() - 1);
            machine.map(tree, 0x40_0000, FRAME, 3, USER_DATA);
            machine.map(
                tree,
                0x7fff_0000,
                FRAME + PAGE,
                3,
                USER_DATA & !UXN | READ_ONLY,
            );
            machine
                .cpus
                .push(cpu(machine.cpus.len() as u32, root | asid << 48));
        }
        machine
    }

    pub fn snapshot(&self) -> Snapshot {
        let facts = self.fixed.facts(&self.memory, LOADED);
        Snapshot {
            facts: Rc::new(facts.expect("the inner domain")),
            cpus: self.cpus.clone(),
            smmu: self.smmu.clone(),
            usb: self.usb.clone(),
            memory: Box::new(self.memory.clone()),
        }
    }

    /// The root that maps nothing.
    pub fn empty_root() -> u64 {
        Self::block(7)
    }

    pub fn root() -> u64 {
        Self::block(ROOT_PAGE)
    }

    pub fn block(page: u64) -> u64 {
        PHYSICAL + BLOCK + page * PAGE
    }

    /// A new table of a level for a tree.
    pub fn table(&mut self, tree: Tree, level: u8) -> u64 {
        let (next, first) = match tree {
            Tree::Inner | Tree::Lower => (&mut self.next_inner, None),
            Tree::Kernel => (&mut self.next_table, Some(KERNEL_ROOT)),
            Tree::User(_) => (&mut self.next_user, None),
        };
        let table = *next;
        *next += PAGE;
        if let Some(first) = first {
            self.set_kind(table, first + level);
        }
        table
    }

    fn kind(&self, frame: u64) -> u8 {
        let at = FRAME_TABLE + (frame - RAM) / PAGE * 2;
        (self.word(at & !7) >> (8 * (at & 6))) as u8
    }

    /// Writes down whose tree a root is.
    pub fn set_tree(&mut self, asid: u64, root: u64) {
        let at = TREES + asid * 4;
        let shift = 8 * (at & 4);
        let word = self.word(at & !7) & !(0xffff_ffff << shift);
        let number = (root - ARENA) / PAGE + 1;
        self.write(at & !7, word | number << shift);
    }

    /// Writes down the type of a frame.
    pub fn set_kind(&mut self, frame: u64, kind: u8) {
        let at = FRAME_TABLE + (frame - RAM) / PAGE * 2;
        let shift = 8 * (at & 6);
        let word = self.word(at & !7) & !(0xff << shift);
        self.write(at & !7, word | u64::from(kind) << shift);
    }

    /// Writes down that a block is a pool of tables, or with number 0 something else.
    pub fn set_block(&mut self, block: u64, kind: u8, number: u8) {
        let entry = u64::from(kind) | u64::from(number) << 8;
        for frame in (block..block + MEBIBYTES_2).step_by(4 * PAGE as usize) {
            let at = FRAME_TABLE + (frame - RAM) / PAGE * 2;
            self.write(at, entry * 0x0001_0001_0001_0001);
        }
    }

    pub fn word(&self, at: u64) -> u64 {
        self.memory.word(at).unwrap_or(0)
    }

    pub fn write(&mut self, at: u64, value: u64) {
        let page = self.memory.0.entry(at & !(PAGE - 1)).or_insert([0; 512]);
        page[(at % PAGE / 8) as usize] = value;
    }

    /// Writes an instruction.
    pub fn write_code(&mut self, at: u64, instruction: u32) {
        let shift = 8 * (at & 4);
        let word = self.word(at & !7) & !(0xffff_ffff << shift);
        self.write(at & !7, word | u64::from(instruction) << shift);
    }

    /// Where the entry of `level` for `va` stands; tables on the way are made.
    pub fn entry(&mut self, tree: Tree, va: u64, level: u8) -> u64 {
        let slot = va >> 39 & 255;
        let mut at = match tree {
            Tree::User(root) => self.roots[root] + 8 * (va >> 39 & 511),
            Tree::Kernel => Self::root() + 8 * slot,
            Tree::Inner => Self::root() + 8 * (256 + slot),
            Tree::Lower => LOWER + 8 * (va >> 39 & 511),
        };
        for upper in 0..level {
            let raw = self.word(at);
            let next = match read(raw, upper) {
                Entry::Table(next) => next,
                _ => {
                    let next = self.place(tree, slot, upper + 1);
                    self.write(at, next | 3);
                    if upper == 0 && matches!(tree, Tree::Kernel) {
                        self.write(at + PAGE / 2, next | 3);
                    }
                    next
                }
            };
            at = next + 8 * (va >> shift(upper + 1) & 511);
        }
        at
    }

    fn place(&mut self, tree: Tree, slot: u64, level: u8) -> u64 {
        match (tree, slot, level) {
            (Tree::Kernel, 0, 1) => Self::block(LINEAR_L1_PAGE),
            (Tree::Kernel, slot, _) if slot == GATE_SLOT as u64 => Self::block(u64::from(level)),
            _ => self.table(tree, level),
        }
    }

    /// Maps one leaf.
    pub fn map(&mut self, tree: Tree, va: u64, pa: u64, level: u8, bits: u64) {
        let at = self.entry(tree, va, level);
        self.write(at, pa | bits | if level == 3 { 3 } else { 1 });
    }

    /// Changes a leaf.
    pub fn change(&mut self, tree: Tree, va: u64, level: u8, change: impl Fn(u64) -> u64) {
        let at = self.entry(tree, va, level);
        let raw = self.word(at);
        assert!(raw & 1 == 1, "nothing to change at {va:#x}");
        self.write(at, change(raw));
    }
}
