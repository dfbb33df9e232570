// SPDX-License-Identifier: MIT OR Apache-2.0
//! The translation tables of a whole machine, as boot stage and Linux build them.
//!
//! Inner mappings are built by the inner domain's own code, Linux's as its `map_mem()` and
//! `map_kernel()` leave them. Every table that is not in the table block lies among frames that
//! user processes own.

use std::collections::{BTreeMap, HashMap};

use donjon_abi::layout;
use donjon_core::range::Range;
use donjon_core::translation::address::{Level, PhysicalAddress, VirtualAddress};
use donjon_core::translation::descriptor::MappingKind;
use donjon_core::translation::inner_tables::{Mapping, TableMemory, link, map};

/// First address of the Linux image with 47-bit addresses (`KIMAGE_VADDR`).
pub const IMAGE: u64 = 0xffff_c000_8000_0000;
/// The vectors' address in the image that the attack was first carried out against.
pub const VECTORS: u64 = IMAGE + 0x1_0800;
/// First address of Linux's linear map with 47-bit addresses (`PAGE_OFFSET`).
pub const LINEAR: u64 = 0xffff_8000_0000_0000;

const PAGE: u64 = layout::PAGE_SIZE;
const BLOCK: u64 = layout::BLOCK_SIZE;
const GIB: u64 = 1 << 30;
/// Bytes of image text, mapped executable by pages.
const TEXT_SIZE: u64 = BLOCK;
/// Offset of the table block in the image.
const BLOCK_OFFSET: u64 = 3 * BLOCK;

/// Valid, page or table, AF, inner shareable, UXN; global and writable.
const LINUX_PAGE: u64 = 1 << 54 | 1 << 10 | 0b11 << 8 | 0b11;
const LINUX_BLOCK: u64 = LINUX_PAGE & !0b10;
const PXN: u64 = 1 << 53;
const READ_ONLY: u64 = 1 << 7;

/// What to build.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Banks of memory, each whole GiB.
    pub ram: Vec<Range>,
    /// Physical address that the linear map begins with (`memstart_addr`), whole GiB.
    pub linear_start: u64,
    /// Physical address of the Linux image, a multiple of 2 MiB.
    pub image: u64,
    /// Virtual address of the image, in slot 128.
    pub image_va: u64,
    /// Page of the table block that is the root table.
    pub root_page: u64,
    /// Page of the table block that is the linear map's first level 1 table; none to leave that
    /// table where Linux would put it.
    pub linear_page: Option<u64>,
    /// Root slot of the gate.
    pub gate_slot: usize,
    /// Root slots that Linux uses besides 0 (linear map) and 128 (image).
    pub linux_slots: Vec<usize>,
}

impl Plan {
    /// A machine with these banks of memory and everything else as it is shipped.
    pub fn shipped(ram: &[Range]) -> Self {
        let start = ram.iter().map(|bank| bank.start()).min().unwrap_or(0);
        Self {
            ram: ram.to_vec(),
            linear_start: start,
            image: start + 16 * BLOCK,
            image_va: IMAGE,
            root_page: layout::ROOT_PAGE,
            linear_page: Some(layout::LINEAR_L1_PAGE),
            gate_slot: layout::GATE_SLOT,
            // vmalloc's upper end, vmemmap, fixmap
            linux_slots: (250..256).collect(),
        }
    }
}

/// A machine whose tables are built.
#[derive(Debug)]
pub struct BuiltMachine {
    plan: Plan,
    pages: HashMap<u64, Box<[u64; 512]>>,
    /// Next frame that Linux makes a table of; two user frames lie between any two.
    next_table: u64,
    /// Roots of Linux's own mappings: slot to level 1 table.
    slots: BTreeMap<usize, u64>,
}

impl BuiltMachine {
    /// Builds everything.
    ///
    /// # Panics
    ///
    /// When the plan contradicts itself: a fault of the test.
    pub fn build(plan: Plan) -> Self {
        let next_table = plan.image + GIB / 2;
        let mut machine = Self {
            plan,
            pages: HashMap::new(),
            next_table,
            slots: BTreeMap::new(),
        };
        machine.map_linear();
        machine.map_image();
        for slot in machine.plan.linux_slots.clone() {
            machine.slot_table(slot);
        }
        machine.map_inner();
        machine.map_gate();
        machine
    }

    /// Physical address of the table block.
    pub fn block(&self) -> Range {
        let start = self.plan.image + BLOCK_OFFSET;
        Range::with_size(start, layout::TABLE_BLOCK_SIZE).expect("low address")
    }

    /// Physical address of the root table.
    pub fn root(&self) -> u64 {
        self.block_page(self.plan.root_page)
    }

    /// Virtual address of the gate page.
    pub fn gate(&self) -> u64 {
        LINEAR + self.plan.gate_slot as u64 * layout::SLOT_SIZE
    }

    /// The word at a physical address; none outside of memory.
    pub fn word(&self, address: u64) -> Option<u64> {
        let inside = self.plan.ram.iter().any(|bank| bank.contains(address));
        inside.then(|| {
            let page = self.pages.get(&(address & !(PAGE - 1)));
            page.map_or(0, |page| page[(address % PAGE / 8) as usize])
        })
    }

    fn block_page(&self, page: u64) -> u64 {
        self.block().start() + page * PAGE
    }

    fn set(&mut self, table: u64, index: u64, value: u64) {
        let page = self
            .pages
            .entry(table)
            .or_insert_with(|| Box::new([0; 512]));
        page[index as usize] = value;
    }

    fn get(&self, table: u64, index: u64) -> u64 {
        self.word(table + index * 8).expect("tables are in memory")
    }

    fn new_table(&mut self) -> u64 {
        self.next_table += 3 * PAGE;
        self.next_table
    }

    /// The level 1 table of a slot of Linux, in both root halves.
    fn slot_table(&mut self, slot: usize) -> u64 {
        if let Some(&table) = self.slots.get(&slot) {
            return table;
        }
        let table = match (slot, self.plan.linear_page) {
            (0, Some(page)) => self.block_page(page),
            _ => self.new_table(),
        };
        self.slots.insert(slot, table);
        let root = self.root();
        self.set(root, slot as u64, table | 0b11);
        self.set(root, (layout::ROOT_HALF + slot) as u64, table | 0b11);
        table
    }

    /// The table below entry `index` of `table`.
    fn table_below(&mut self, table: u64, index: u64) -> u64 {
        let raw = self.get(table, index);
        if raw & 1 == 1 {
            return raw & 0xffff_ffff_f000;
        }
        let next = self.new_table();
        self.set(table, index, next | 0b11);
        next
    }

    /// All memory, never executable, in 2 MiB blocks, one of them split into pages.
    fn map_linear(&mut self) {
        let level1 = self.slot_table(0);
        for bank in self.plan.ram.clone() {
            for start in (bank.start()..bank.end()).step_by(GIB as usize) {
                let index = (start - self.plan.linear_start) / GIB;
                let level2 = self.table_below(level1, index);
                for block in 1..512 {
                    let output = start + block * BLOCK;
                    self.set(level2, block, output | LINUX_BLOCK | PXN);
                }
                let level3 = self.table_below(level2, 0);
                for page in 0..512 {
                    self.set(level3, page, (start + page * PAGE) | LINUX_PAGE | PXN);
                }
            }
        }
    }

    /// The Linux image: text by pages, executable; the rest in blocks, not executable.
    fn map_image(&mut self) {
        let (level1, image, va) = (self.slot_table(128), self.plan.image, self.plan.image_va);
        let level2 = self.table_below(level1, va >> 30 & 511);
        let first = va >> 21 & 511;
        let level3 = self.table_below(level2, first);
        for page in 0..TEXT_SIZE / PAGE {
            self.set(level3, page, (image + page * PAGE) | LINUX_PAGE | READ_ONLY);
        }
        for block in 1..8 {
            let output = image + block * BLOCK;
            self.set(
                level2,
                first + block,
                output | LINUX_BLOCK | PXN | READ_ONLY,
            );
        }
    }

    fn map_inner(&mut self) {
        let root = PhysicalAddress::new(self.root()).expect("48 bits");
        let inner = self.plan.image + GIB / 4;
        for (address, physical, size, kind, largest) in [
            (
                layout::PHYSMAP,
                0,
                2 * GIB,
                MappingKind::InnerData,
                Level::One,
            ),
            (
                layout::GATE - PAGE,
                inner,
                PAGE,
                MappingKind::InnerText,
                Level::Three,
            ),
        ] {
            let mapping = Mapping {
                virtual_address: VirtualAddress::new(address).expect("canonical"),
                physical_address: PhysicalAddress::new(physical).expect("48 bits"),
                size,
                kind,
                largest,
            };
            map(self, root, &mapping).expect("free slot");
        }
    }

    /// The gate: its three tables are pages 1 to 3 of the table block.
    fn map_gate(&mut self) {
        let root = PhysicalAddress::new(self.root()).expect("48 bits");
        let gate = self.plan.image + GIB / 4 + PAGE;
        let level1 = self.block_page(layout::GATE_L1_PAGE);
        let level2 = self.block_page(layout::GATE_L2_PAGE);
        let level3 = self.block_page(layout::GATE_L3_PAGE);
        let level1_address = PhysicalAddress::new(level1).expect("48 bits");
        link(self, root, self.plan.gate_slot, level1_address, true).expect("free slot");
        self.set(level1, 0, level2 | 0b11);
        self.set(level2, 0, level3 | 0b11);
        let mapping = Mapping {
            virtual_address: VirtualAddress::new(self.gate()).expect("canonical"),
            physical_address: PhysicalAddress::new(gate).expect("48 bits"),
            size: PAGE,
            kind: MappingKind::GateText,
            largest: Level::Three,
        };
        map(self, root, &mapping).expect("free page");
    }
}

impl TableMemory for BuiltMachine {
    fn allocate(&mut self) -> Option<PhysicalAddress> {
        PhysicalAddress::new(self.new_table())
    }

    fn read(&self, table: PhysicalAddress, index: usize) -> u64 {
        self.get(table.as_u64(), index as u64)
    }

    fn write(&mut self, table: PhysicalAddress, index: usize, value: u64) {
        self.set(table.as_u64(), index as u64, value);
    }
}
