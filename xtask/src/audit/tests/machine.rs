// SPDX-License-Identifier: MIT OR Apache-2.0
//! A small machine whose tables are as they must be.

use std::collections::BTreeMap;
use std::rc::Rc;

use donjon_abi::layout::{
    GATE, GATE_ENTRY_WRITE, GATE_SLOT, INNER_SLOT, LINEAR_L1_PAGE, PHYSMAP_SLOT, ROOT_PAGE,
    SLOT_SIZE, TABLE_BLOCK_SIZE,
};
use donjon_abi::tcr::{MAIR, OUTER, RESERVED_ASID};

use crate::audit::checks::vectors::comparison;
use crate::audit::code::AllowList;
use crate::audit::descriptor::{Entry, PAGE, read, shift};
use crate::audit::memory::{Memory, Words};
use crate::audit::snapshot::{Cpu, Facts, Linux, Snapshot};
use crate::audit::walk::UPPER;

pub const AF: u64 = 1 << 10;
pub const SHARED: u64 = 3 << 8;
pub const READ_ONLY: u64 = 1 << 7;
pub const USER: u64 = 1 << 6;
pub const NON_GLOBAL: u64 = 1 << 11;
pub const DIRTY: u64 = 1 << 51;
pub const CONTIGUOUS: u64 = 1 << 52;
pub const PXN: u64 = 1 << 53;
pub const UXN: u64 = 1 << 54;
/// AttrIndx of non-cacheable memory and of devices.
pub const NON_CACHEABLE: u64 = 2 << 2;
pub const DEVICE: u64 = 4 << 2;

pub const KERNEL_DATA: u64 = AF | SHARED | PXN | UXN;
pub const KERNEL_TEXT: u64 = AF | SHARED | READ_ONLY | UXN;
pub const USER_DATA: u64 = AF | SHARED | USER | NON_GLOBAL | PXN | UXN;

pub const RAM: u64 = 0x4000_0000;
pub const RAM_SIZE: u64 = 64 << 20;
pub const IMAGE: u64 = 0xffff_c000_8000_0000;
pub const PHYSICAL: u64 = 0x4040_0000;
pub const TEXT: u64 = 0x1_0000;
pub const RODATA: u64 = 0x2_0000;
pub const BLOCK: u64 = 0x5_0000;
pub const DATA: u64 = 0x6_0000;
pub const STAY: u64 = 0x4020_1000;
pub const POOL: u64 = 0x4300_0000;
pub const TEXT_POOL: u64 = 0x4320_0000;
pub const MODULE: u64 = UPPER + 130 * SLOT_SIZE;
pub const VMALLOC: u64 = UPPER + 200 * SLOT_SIZE;
pub const REGION: u64 = 0x43e0_0000;
pub const GATE_FRAME: u64 = REGION;
pub const UART: u64 = 0x0900_0000;
pub const FW_CFG: u64 = 0x0902_0000;
/// An ordinary frame that a process has.
pub const FRAME: u64 = 0x4200_0000;
pub const MEBIBYTES_2: u64 = 2 << 20;

/// Which tree a mapping goes to.
#[derive(Clone, Copy)]
pub enum Tree {
    Kernel,
    Inner,
    User(usize),
}

#[derive(Clone)]
pub struct Pages(pub BTreeMap<u64, Words>);

impl Memory for Pages {
    fn page(&self, address: u64) -> Option<Box<Words>> {
        let in_ram = (RAM..RAM + RAM_SIZE).contains(&address);
        in_ram.then(|| Box::new(self.0.get(&address).copied().unwrap_or([0; 512])))
    }
}

pub struct Machine {
    pub memory: Pages,
    pub cpus: Vec<Cpu>,
    pub facts: Facts,
    pub roots: Vec<u64>,
    next_table: u64,
    next_inner: u64,
}

impl Machine {
    pub fn clean() -> Self {
        let mut machine = Self {
            memory: Pages(BTreeMap::new()),
            cpus: Vec::new(),
            facts: facts(),
            roots: Vec::new(),
            next_table: POOL,
            next_inner: REGION + PAGE,
        };
        machine.linear_map();
        machine.image();
        machine.modules_and_devices();
        machine.inner();
        for asid in [0x31, 0x32] {
            let root = machine.table(Tree::User(0));
            machine.roots.push(root);
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
        Snapshot {
            facts: Rc::new(self.facts.clone()),
            cpus: self.cpus.clone(),
            memory: Box::new(self.memory.clone()),
        }
    }

    pub fn root() -> u64 {
        Self::block(ROOT_PAGE)
    }

    pub fn block(page: u64) -> u64 {
        PHYSICAL + BLOCK + page * PAGE
    }

    /// A new table for a tree.
    pub fn table(&mut self, tree: Tree) -> u64 {
        let next = match tree {
            Tree::Inner => &mut self.next_inner,
            _ => &mut self.next_table,
        };
        *next += PAGE;
        *next - PAGE
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
            _ => self.table(tree),
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

    fn linear_map(&mut self) {
        for pa in (RAM..RAM + RAM_SIZE).step_by(MEBIBYTES_2 as usize) {
            let va = UPPER + pa - RAM;
            let pooled = [POOL, TEXT_POOL].contains(&pa);
            let whole = ![STAY & !(MEBIBYTES_2 - 1), PHYSICAL, REGION].contains(&pa);
            if whole {
                let bits = if pooled { READ_ONLY } else { 0 };
                self.map(Tree::Kernel, va, pa, 2, KERNEL_DATA | bits);
                continue;
            }
            for page in (pa..pa + MEBIBYTES_2).step_by(PAGE as usize) {
                let image = (PHYSICAL + TEXT..PHYSICAL + DATA).contains(&page);
                let inner = page == STAY || (REGION..REGION + 0x1_0000).contains(&page);
                if !inner {
                    let bits = if image { READ_ONLY } else { 0 };
                    self.map(Tree::Kernel, va + page - pa, page, 3, KERNEL_DATA | bits);
                }
            }
        }
    }

    fn image(&mut self) {
        for offset in (0..DATA + 2 * PAGE).step_by(PAGE as usize) {
            let bits = match offset {
                it if it < TEXT => KERNEL_DATA,
                it if it < RODATA => KERNEL_TEXT,
                it if it < DATA => KERNEL_DATA | READ_ONLY,
                _ => KERNEL_DATA,
            };
            self.map(Tree::Kernel, IMAGE + offset, PHYSICAL + offset, 3, bits);
        }
        for slot in 0..8 {
            let begin = PHYSICAL + TEXT + 0x800 + slot * 0x80;
            let mut words = comparison().to_vec();
            words.push(0xb500_0012 | 0x40 << 5); // cbnz x18, somewhere
            for (number, word) in (0..).zip(words) {
                self.write_code(begin + 4 * number, word);
            }
        }
    }

    fn modules_and_devices(&mut self) {
        self.map(Tree::Kernel, MODULE, TEXT_POOL, 3, KERNEL_TEXT);
        self.map(Tree::Kernel, VMALLOC, FRAME + 8 * PAGE, 3, KERNEL_DATA);
        let registers = AF | PXN | UXN | DEVICE;
        self.map(Tree::Kernel, VMALLOC + 0x10_0000, UART, 3, registers);
    }

    fn inner(&mut self) {
        self.map(Tree::Kernel, GATE, GATE_FRAME, 3, KERNEL_TEXT);
        self.write_code(GATE_FRAME + GATE_ENTRY_WRITE % PAGE, 0xd518_2052);
        let physmap = UPPER + PHYSMAP_SLOT as u64 * SLOT_SIZE;
        self.map(Tree::Inner, physmap + RAM, RAM, 1, KERNEL_DATA | NON_GLOBAL);
        let text = UPPER + INNER_SLOT as u64 * SLOT_SIZE;
        let page = self.table(Tree::Inner);
        self.map(Tree::Inner, text, page, 3, KERNEL_TEXT | NON_GLOBAL);
    }
}

fn facts() -> Facts {
    Facts {
        ram: vec![RAM..RAM + RAM_SIZE],
        inner: vec![REGION..REGION + 0x1_0000, STAY..STAY + PAGE],
        table_pools: vec![POOL..POOL + MEBIBYTES_2],
        text_pools: vec![TEXT_POOL..TEXT_POOL + MEBIBYTES_2],
        devices: vec![UART..UART + PAGE],
        withheld: vec![FW_CFG..FW_CFG + PAGE],
        linux: Linux {
            image: IMAGE,
            physical: PHYSICAL,
            text: IMAGE + TEXT..IMAGE + RODATA,
            read_only: IMAGE + RODATA..IMAGE + DATA,
            vectors: IMAGE + TEXT + 0x800,
            table_block: IMAGE + BLOCK,
            reserved_root: IMAGE + BLOCK + 7 * PAGE,
        },
        allowed: AllowList::parse("[[allowed]]\nentries = [ { encoding = \"S0_3_C2_C0_0\" } ]\n")
            .expect("a list"),
        gate_writes: 1,
    }
}

fn cpu(number: u32, ttbr0: u64) -> Cpu {
    Cpu {
        number,
        pc: IMAGE + TEXT + 0x2000,
        ttbr0,
        ttbr1: Machine::root() | u64::from(RESERVED_ASID) << 48,
        tcr: OUTER,
        sctlr: 0x34d5_d91d,
        vbar: IMAGE + TEXT + 0x800,
        mair: MAIR,
        ..Cpu::default()
    }
}

const _: () = assert!((PHYSICAL + BLOCK).is_multiple_of(TABLE_BLOCK_SIZE));
