// SPDX-License-Identifier: MIT OR Apache-2.0
//! A small machine whose tables are as they must be.

use std::collections::BTreeMap;
use std::mem::offset_of;
use std::ops::Range;
use std::rc::Rc;

use donjon_abi::boot_info::{Arrival, BootInfo};
use donjon_abi::layout::{
    GATE, GATE_ENTRY_WRITE, GATE_SLOT, GATE_TLBI_LIST, LINEAR_L1_PAGE, PHYSMAP_SLOT, ROOT_PAGE,
    SLOT_SIZE, TABLE_BLOCK_SIZE, TEXT_WINDOW,
};
use donjon_abi::tcr::{MAIR, OUTER, RESERVED_ASID};

use crate::books::{self, KERNEL_ROOT, POOL_FREE, TEXT_FREE};
use crate::capture::Fixed;
use crate::checks::vectors::comparison;
use crate::code::AllowList;
use crate::descriptor::{Entry, PAGE, read, shift};
use crate::devices::Machinery;
use crate::image::{Constant, Image, Stay};
use crate::memory::{Memory, Words};
use crate::snapshot::{Cpu, Linux, Snapshot};
use crate::walk::UPPER;

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
pub const LOADED: u64 = 0x4020_0000;
pub const STAY: u64 = LOADED + 0x1000;
/// Offset in that page of what a CPU that arrives reads.
pub const ARRIVAL: u64 = 0xa00;
/// And of EL2's vectors.
pub const EL2_VECTORS: u64 = 0x800;
pub const POOL: u64 = 0x4300_0000;
pub const TEXT_POOL: u64 = 0x4320_0000;
pub const MODULE: u64 = UPPER + 130 * SLOT_SIZE;
pub const VMALLOC: u64 = UPPER + 200 * SLOT_SIZE;
pub const REGION: u64 = 0x43e0_0000;
pub const REGION_SIZE: u64 = 0x4_0000;
pub const GATE_FRAME: u64 = REGION;
/// The types of frames, two bytes each.
pub const BOOKS: u64 = REGION + 0x1_0000;
/// The boot stage's description.
pub const INFO: u64 = BOOKS + RAM_SIZE / PAGE * 2;
/// The lower half of a CPU that arrives.
pub const LOWER: u64 = REGION + REGION_SIZE - PAGE;
/// The trees of ASIDs, a page of them.
pub const TREES: u64 = INFO + PAGE;
/// What the tables of users are made of.
pub const ARENA: u64 = REGION + 0x2_0000;
/// Where the inner domain takes such a CPU over.
const ENTRY: u64 = TEXT_WINDOW + 0x100;
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
    /// Of a CPU that arrives.
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

pub struct Machine {
    pub memory: Pages,
    pub cpus: Vec<Cpu>,
    pub fixed: Fixed,
    pub roots: Vec<u64>,
    next_table: u64,
    next_user: u64,
    next_inner: u64,
}

impl Machine {
    pub fn clean() -> Self {
        let mut machine = Self {
            memory: Pages(BTreeMap::new()),
            cpus: Vec::new(),
            fixed: fixed(),
            roots: Vec::new(),
            next_table: POOL,
            next_user: ARENA,
            next_inner: REGION + PAGE,
        };
        machine.linear_map();
        machine.image();
        machine.modules_and_devices();
        machine.inner();
        machine.arrival();
        machine.books();
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
        let at = BOOKS + (frame - RAM) / PAGE * 2;
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
        let at = BOOKS + (frame - RAM) / PAGE * 2;
        let shift = 8 * (at & 6);
        let word = self.word(at & !7) & !(0xff << shift);
        self.write(at & !7, word | u64::from(kind) << shift);
    }

    /// Writes down that a block is a pool of tables, or with number 0 something else.
    pub fn set_block(&mut self, block: u64, kind: u8, number: u8) {
        let entry = u64::from(kind) | u64::from(number) << 8;
        for frame in (block..block + MEBIBYTES_2).step_by(4 * PAGE as usize) {
            let at = BOOKS + (frame - RAM) / PAGE * 2;
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
                let inner = page == STAY || (REGION..REGION + REGION_SIZE).contains(&page);
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
        let physmap = UPPER + PHYSMAP_SLOT as u64 * SLOT_SIZE;
        self.map(Tree::Inner, physmap + RAM, RAM, 1, KERNEL_DATA | NON_GLOBAL);
        let page = self.table(Tree::Inner, 0);
        let text = KERNEL_TEXT | NON_GLOBAL;
        self.map(Tree::Inner, TEXT_WINDOW, page, 3, text);
        let image = Rc::clone(&self.fixed.image);
        self.fill(STAY, &image.stay.at(LOADED));
        for (pa, constant) in [page, GATE_FRAME].into_iter().zip(&image.constants) {
            self.fill(pa, &constant.bytes);
        }
    }

    /// As the boot stage leaves EL2 on every CPU.
    pub fn start_at_el2(&mut self) {
        self.fixed.el2 = true;
        for cpu in &mut self.cpus {
            let registers = [
                ("HCR_EL2", 0x300_a010_0002),
                ("SCTLR_EL2", 0x30c5_0830),
                ("VBAR_EL2", STAY + EL2_VECTORS),
                ("VTTBR_EL2", 0),
                ("MDCR_EL2", 6),
                ("VMPIDR_EL2", 0x8000_0000 | u64::from(cpu.number)),
                ("HSTR_EL2", 0),
                ("CNTVOFF_EL2", 0),
                ("HCRX_EL2", 1 << 11),
            ];
            cpu.level_2 = registers.map(|(name, it)| (name.to_owned(), it)).to_vec();
        }
    }

    /// Changes a register of EL2.
    pub fn set_el2(&mut self, cpu: usize, name: &str, value: u64) {
        let all = &mut self.cpus[cpu].level_2;
        all.iter_mut()
            .filter(|(it, _)| it == name)
            .for_each(|it| it.1 = value);
    }

    /// The list of mode `tlbi`: the two inner leaves.
    pub fn fill_list(&mut self) {
        Rc::make_mut(&mut self.fixed.image).has_list = true;
        let list = GATE_FRAME + GATE_TLBI_LIST as u64;
        let physmap = UPPER + PHYSMAP_SLOT as u64 * SLOT_SIZE + RAM;
        for (at, va) in (list..).step_by(8).zip([physmap, TEXT_WINDOW]) {
            self.write(at, va >> 12 & ((1 << 44) - 1));
        }
    }

    fn fill(&mut self, pa: u64, bytes: &[u8]) {
        for (at, word) in (pa..).step_by(8).zip(bytes.as_chunks::<8>().0) {
            self.write(at, u64::from_le_bytes(*word));
        }
    }

    /// What the boot stage leaves for CPUs that arrive, and its description of the machine.
    fn arrival(&mut self) {
        self.map(Tree::Lower, STAY, STAY, 3, KERNEL_TEXT | NON_GLOBAL);
        let reserved = u64::from(RESERVED_ASID) << 48;
        for (offset, value) in [
            (offset_of!(Arrival, ttbr0), LOWER),
            (offset_of!(Arrival, ttbr1), Self::root() | reserved),
            (offset_of!(Arrival, sctlr), 0x30d0_1805),
            (offset_of!(Arrival, entry), ENTRY),
        ] {
            self.write(STAY + ARRIVAL + offset as u64, value);
        }
        let mut put = |offset: usize, range: Range<u64>| {
            self.write(INFO + offset as u64, range.start);
            self.write(INFO + offset as u64 + 8, range.end);
        };
        let block = Self::block(0);
        put(offset_of!(BootInfo, region), REGION..REGION + REGION_SIZE);
        put(offset_of!(BootInfo, stays), STAY..STAY + PAGE);
        put(
            offset_of!(BootInfo, table_block),
            block..block + TABLE_BLOCK_SIZE,
        );
        put(offset_of!(BootInfo, frame_table), BOOKS..INFO);
        put(offset_of!(BootInfo, user_arena), ARENA..LOWER);
        put(offset_of!(BootInfo, user_trees), TREES..TREES + PAGE);
        self.write(INFO + offset_of!(BootInfo, root) as u64, Self::root());
        let at = INFO + offset_of!(BootInfo, reserved_root) as u64;
        self.write(at, Self::empty_root());
    }

    /// The pools, and in them the tables that are there already.
    fn books(&mut self) {
        let tables: Vec<(u64, u8)> = (POOL..self.next_table)
            .step_by(PAGE as usize)
            .map(|it| (it, self.kind(it)))
            .collect();
        self.set_block(POOL, POOL_FREE, 1);
        self.set_block(TEXT_POOL, TEXT_FREE, 0);
        for (table, kind) in tables {
            self.set_kind(table, kind);
        }
        self.set_kind(TEXT_POOL, books::TEXT);
    }
}

fn fixed() -> Fixed {
    Fixed {
        machinery: Machinery {
            mpidrs: vec![0, 1],
            ram: vec![RAM..RAM + RAM_SIZE],
            devices: vec![UART..UART + PAGE],
            withheld: vec![FW_CFG..FW_CFG + PAGE],
        },
        linux: Linux {
            image: IMAGE,
            physical: 0,
            text: IMAGE + TEXT..IMAGE + RODATA,
            read_only: IMAGE + RODATA..IMAGE + DATA,
            vectors: IMAGE + TEXT + 0x800,
            table_block: IMAGE + BLOCK,
            reserved_root: IMAGE + BLOCK + 7 * PAGE,
        },
        image: Rc::new(image()),
        allowed: AllowList::parse("[[allowed]]\nentries = [ { encoding = \"S0_3_C2_C0_0\" } ]\n")
            .expect("a list"),
        gate_writes: 1,
        el2: false,
    }
}

/// A page of text of the inner domain, the gate and the page that stays.
fn image() -> Image {
    let page = |start: u8| (0..PAGE).map(|it| (it % 61) as u8 + start).collect();
    // Words that mean nothing anywhere.
    let mut gate = vec![0; PAGE as usize];
    let write = (GATE_ENTRY_WRITE % PAGE) as usize;
    gate[write..write + 4].copy_from_slice(&0xd518_2052_u32.to_le_bytes());
    let mut stay: Vec<u8> = page(7);
    stay[ARRIVAL as usize..][..size_of::<Arrival>()].fill(0);
    let constant = |address, bytes| Constant { address, bytes };
    Image {
        linux: PHYSICAL - LOADED,
        constants: vec![constant(TEXT_WINDOW, page(1)), constant(GATE, gate)],
        has_list: false,
        entry: ENTRY,
        stay: Stay {
            place: STAY - LOADED..STAY - LOADED + PAGE,
            bytes: stay,
            relocated: vec![(STAY - LOADED + 0x40, 0x1234)],
            arrival: STAY - LOADED + ARRIVAL..STAY - LOADED + ARRIVAL + size_of::<Arrival>() as u64,
            el2_vectors: STAY - LOADED + EL2_VECTORS,
        },
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

/// A CPU that was never switched on.
pub fn off(number: u32) -> Cpu {
    Cpu {
        number,
        halted: true,
        sctlr: 0x00c5_0838,
        ..Cpu::default()
    }
}

const _: () = assert!((PHYSICAL + BLOCK).is_multiple_of(TABLE_BLOCK_SIZE));
