// SPDX-License-Identifier: MIT OR Apache-2.0
//! A small machine as Linux leaves it at the hand-over, every mapping written out by hand.
//!
//! | physical | what |
//! |---|---|
//! | 0x4000_0000 | ordinary |
//! | 0x4020_0000 | the image: text, constants with the table block, data, early tables |
//! | 0x4040_0000 | pool for tables, two blocks |
//! | 0x4080_0000 | pool for text |
//! | 0x40a0_0000 | ordinary, two blocks |
//! | 0x40e0_0000 | the inner domain's |
//! | 0x4100_0000 | nothing |
//! | 0x4120_0000 | ordinary, a second bank |

pub mod memory;
pub mod naive;

use std::sync::atomic::{AtomicU16, AtomicU32};

use donjon_abi::boot_info::Bank;
use donjon_abi::call::Handover;
use donjon_abi::layout;
use donjon_core::devices::DeviceList;
use donjon_core::handover::{BadInstruction, HandoverError, MachineParts, Summary, take_over};
use donjon_core::kernel_tables::PoolFrame;
use donjon_core::memory::private::{Private, PrivateBlock};
use donjon_core::pools::{Pools, Storage};
use donjon_core::range::Range;
use donjon_core::translation::frames::FrameTable;

pub use memory::Memory;

/// Bytes of a page.
pub const PAGE: u64 = 4096;
/// Bytes of a block.
pub const BLOCK: u64 = 2 << 20;

/// First byte of RAM, and what the linear map begins with.
pub const RAM: u64 = 0x4000_0000;
/// The image.
pub const IMAGE: u64 = RAM + BLOCK;
/// The pool for tables.
pub const TABLE_POOL: u64 = RAM + 2 * BLOCK;
/// End of the pool for tables.
pub const TABLE_POOL_END: u64 = TABLE_POOL + 2 * BLOCK;
/// The pool for text, one block.
pub const TEXT_POOL: u64 = TABLE_POOL_END;
/// Ordinary memory that the kernel has mapped.
pub const ORDINARY: u64 = TEXT_POOL + BLOCK;
/// The inner domain's block.
pub const INNER: u64 = RAM + 7 * BLOCK;
/// The gate's frame in it.
pub const GATE: u64 = INNER + 5 * PAGE;
/// Addresses between the banks: no memory.
pub const HOLE: u64 = RAM + 8 * BLOCK;
/// The second bank, one block.
pub const SECOND_BANK: u64 = RAM + 9 * BLOCK;
/// Registers of a UART.
pub const UART: u64 = 0x0900_0000;
/// A flash chip, a whole block.
pub const FLASH: u64 = 0;
/// Registers between the banks.
pub const BETWEEN: u64 = HOLE + 3 * PAGE;
/// A device that is on no list.
pub const WITHHELD: u64 = 0x0902_0000;

/// The linear map.
pub const LINEAR: u64 = 0xffff_8000_0000_0000;
/// Virtual address of the image.
pub const IMAGE_VA: u64 = 0xffff_c000_8000_0000;
/// Where vmalloc has some pages.
pub const VMALLOC: u64 = LINEAR + 200 * layout::SLOT_SIZE;
/// Where struct pages are, in one block.
pub const VMEMMAP: u64 = LINEAR + 254 * layout::SLOT_SIZE;
/// The fixmap.
pub const FIXMAP: u64 = LINEAR + 255 * layout::SLOT_SIZE;

/// Pages of the image: text, constants, what was freed after boot, data, early tables.
pub const TEXT_PAGES: std::ops::Range<u64> = 16..48;
/// Constants.
pub const CONSTANT_PAGES: std::ops::Range<u64> = 48..96;
/// Pages of the table block, among the constants.
pub const TABLE_BLOCK_PAGES: std::ops::Range<u64> = 64..80;
/// Data.
pub const DATA_PAGES: std::ops::Range<u64> = 112..128;
/// Data with early tables.
pub const BSS_PAGES: std::ops::Range<u64> = 128..144;
/// The page that stays for CPUs that arrive.
pub const STAY: u64 = IMAGE + BLOCK - PAGE;
/// The vectors' page.
pub const VECTORS_PAGE: u64 = 20;

/// Valid, page, AF, inner shareable, Normal.
pub const NORMAL: u64 = 0x703;
/// Valid, page, AF, Device-nGnRE.
pub const DEVICE: u64 = 4 << 2 | 0x403;
/// AP\[1\].
pub const EL0: u64 = 1 << 6;
/// AP\[2\].
pub const READ_ONLY: u64 = 1 << 7;
/// nG.
pub const NON_GLOBAL: u64 = 1 << 11;
/// DBM.
pub const DBM: u64 = 1 << 51;
/// Contiguous.
pub const CONT: u64 = 1 << 52;
/// PXN.
pub const PXN: u64 = 1 << 53;
/// UXN.
pub const UXN: u64 = 1 << 54;
/// Bit 1, which blocks have not.
pub const NOT_BLOCK: u64 = 0b10;

/// A kernel page for data.
pub const KERNEL_DATA: u64 = NORMAL | PXN | UXN | DBM;
/// A kernel page for constants.
pub const KERNEL_CONSTANTS: u64 = NORMAL | PXN | UXN | READ_ONLY;
/// A kernel page of text.
pub const KERNEL_TEXT: u64 = NORMAL | UXN | READ_ONLY;
/// A free frame of the pool that is not zero.
pub const DIRTY: u64 = TABLE_POOL + 300 * PAGE;

/// The machine.
pub struct Linux {
    /// Memory of the machine, and what was done to it.
    pub memory: Memory,
    /// What Linux says of itself.
    pub said: Handover,
    /// The next frame of the pool for a table.
    next_table: u64,
    /// The next frame outside of the pool for a table.
    next_early: u64,
}

/// The kernel's root.
pub const fn root() -> u64 {
    block_page(layout::ROOT_PAGE)
}

/// A page of the table block.
pub const fn block_page(page: u64) -> u64 {
    IMAGE + TABLE_BLOCK_PAGES.start * PAGE + page * PAGE
}

/// The address of physical memory in the linear map.
pub const fn linear(physical: u64) -> u64 {
    LINEAR + (physical - RAM)
}

impl Default for Linux {
    fn default() -> Self {
        Self::new()
    }
}

impl Linux {
    /// The machine at the hand-over.
    pub fn new() -> Self {
        let mut linux = Self {
            memory: Memory::default(),
            said: Handover {
                table_pool_start: TABLE_POOL,
                table_pool_end: TABLE_POOL_END,
                text_pool_start: TEXT_POOL,
                text_pool_end: TEXT_POOL + BLOCK,
                text_start: IMAGE_VA + TEXT_PAGES.start * PAGE,
                text_end: IMAGE_VA + TEXT_PAGES.end * PAGE,
                rodata_start: IMAGE_VA + CONSTANT_PAGES.start * PAGE,
                rodata_end: IMAGE_VA + CONSTANT_PAGES.end * PAGE,
                vectors: IMAGE_VA + VECTORS_PAGE * PAGE + 0x800,
            },
            next_table: TABLE_POOL,
            next_early: IMAGE + BSS_PAGES.start * PAGE,
        };
        linux.map_inner();
        linux.map_linear();
        linux.map_image();
        linux.map_rest();
        linux.memory.set(DIRTY + 8 * 7, 0x1234_5678_9abc_d703);
        linux
    }

    /// Hands the machine over. `scan` finds `bad` in the frame that it names.
    pub fn hand_over(
        &mut self,
        bad: Option<u64>,
        check: impl FnOnce(&mut Pools<'_>, &mut Memory),
    ) -> Result<Summary, HandoverError> {
        let ram = [(RAM, HOLE), (SECOND_BANK, SECOND_BANK + BLOCK)].map(range);
        let frames = FrameTable::entries_for(range((RAM, SECOND_BANK + BLOCK)));
        let frames: Vec<AtomicU16> = (0..frames).map(|_| AtomicU16::new(0)).collect();
        let mut pool = vec![PoolFrame::NEW; 8 * 512];
        let owners: Vec<AtomicU32> = frames.iter().map(|_| AtomicU32::new(0)).collect();
        let mut blocks = vec![PrivateBlock::NEW; frames.len() / 512 + 1];
        let frames = FrameTable::new(RAM, &frames);
        let storage = Storage {
            frames,
            pool: &mut pool,
            private: Private::new(frames, &owners, &mut blocks).expect("enough words"),
        };
        let mut pools = Pools::new(storage, devices(), root());
        let machine = MachineParts {
            root: root(),
            table_block: range((block_page(0), block_page(16))),
            banks: &ram,
            inner: &[range((INNER, INNER + BLOCK)), range((STAY, STAY + PAGE))],
            written: &[range((ORDINARY, INNER))],
        };
        let scan = |frame| match bad {
            Some(bad) if bad == frame => Err(BadInstruction {
                offset: 8,
                instruction: 0xd500_4000,
            }),
            _ => Ok(()),
        };
        let summary = take_over(
            &mut pools.tables,
            &mut self.memory,
            &machine,
            &self.said,
            scan,
        )?;
        check(&mut pools, &mut self.memory);
        Ok(summary)
    }

    /// A free frame of the pool for a table.
    pub fn new_table(&mut self) -> u64 {
        let table = self.next_table;
        self.next_table += PAGE;
        table
    }

    fn new_early_table(&mut self) -> u64 {
        self.next_early += PAGE;
        self.next_early - PAGE
    }

    /// Entry of a root and the tables below it that translates `va` at `level`, which exists.
    pub fn entry(&self, root: u64, va: u64, level: u32) -> u64 {
        let mut table = root;
        for above in 0..level {
            let value = self.memory.get(table + index(va, above) * 8);
            assert_eq!(value & 3, 3, "{va:#x} has a table at level {above}");
            table = value & 0xffff_ffff_f000;
        }
        table + index(va, level) * 8
    }

    /// Entry of the kernel's tables.
    pub fn kernel_entry(&self, va: u64, level: u32) -> u64 {
        self.entry(root(), va, level)
    }

    /// Maps one leaf of a level, with tables from `tables` where there are none.
    pub fn map(
        &mut self,
        root: u64,
        va: u64,
        level: u32,
        leaf: u64,
        mut tables: impl FnMut(&mut Self) -> u64,
    ) {
        let mut table = root;
        for above in 0..level {
            let entry = table + index(va, above) * 8;
            let value = self.memory.get(entry);
            table = if value & 1 == 0 {
                let next = tables(self);
                self.memory.set(entry, next | 3);
                if above == 0 && va >= LINEAR {
                    self.memory.set(entry + 256 * 8, next | 3);
                }
                next
            } else {
                value & 0xffff_ffff_f000
            };
        }
        self.memory.set(table + index(va, level) * 8, leaf);
    }

    fn map_kernel(&mut self, va: u64, level: u32, leaf: u64) {
        self.map(root(), va, level, leaf, Self::new_table);
    }

    /// The inner half of the root and the gate, as the boot stage leaves them.
    fn map_inner(&mut self) {
        let slots = [layout::PHYSMAP_SLOT, layout::INNER_SLOT];
        for (page, slot) in slots.into_iter().enumerate() {
            let table = INNER + page as u64 * PAGE;
            self.memory.set(root() + (256 + slot as u64) * 8, table | 3);
        }
        let pages = [
            layout::GATE_L1_PAGE,
            layout::GATE_L2_PAGE,
            layout::GATE_L3_PAGE,
        ];
        let mut tables = pages.map(block_page).into_iter();
        let next = |_: &mut Self| tables.next().expect("three tables");
        self.map(root(), layout::GATE, 3, GATE | KERNEL_TEXT, next);
    }

    /// Maps RAM but for the inner domain's, in blocks, the image's block in pages.
    fn map_linear(&mut self) {
        let slot = root() + index(LINEAR, 0) * 8;
        let table = block_page(layout::LINEAR_L1_PAGE);
        self.memory.set(slot, table | 3);
        self.memory.set(slot + 256 * 8, table | 3);
        let read_only = TEXT_PAGES.start..CONSTANT_PAGES.end;
        for block in (0..10).map(|block| RAM + block * BLOCK) {
            match block {
                INNER | HOLE => {}
                IMAGE => {
                    for page in 0..511 {
                        let leaf = if read_only.contains(&page) {
                            KERNEL_CONSTANTS
                        } else {
                            KERNEL_DATA
                        };
                        let physical = IMAGE + page * PAGE;
                        self.map_kernel(linear(physical), 3, physical | leaf);
                    }
                }
                _ => self.map_kernel(linear(block), 2, block | KERNEL_DATA & !NOT_BLOCK),
            }
        }
    }

    /// The image, page by page, with early tables.
    fn map_image(&mut self) {
        for (pages, leaf) in [
            (TEXT_PAGES, KERNEL_TEXT),
            (CONSTANT_PAGES, KERNEL_CONSTANTS),
            (DATA_PAGES, KERNEL_DATA),
            (BSS_PAGES, KERNEL_DATA),
        ] {
            for page in pages {
                let (va, leaf) = (IMAGE_VA + page * PAGE, (IMAGE + page * PAGE) | leaf);
                self.map(root(), va, 3, leaf, Self::new_early_table);
            }
        }
    }

    /// Fixmap with early tables, vmemmap, vmalloc.
    fn map_rest(&mut self) {
        let device = DEVICE | PXN | UXN;
        self.map(root(), FIXMAP, 3, UART | device, Self::new_early_table);
        self.map_kernel(FIXMAP + BLOCK, 3, UART | device);
        self.map_kernel(FIXMAP + BLOCK + PAGE, 3, BETWEEN | device);
        self.map_kernel(VMALLOC + BLOCK, 2, FLASH | device & !NOT_BLOCK);
        for page in 0..4 {
            let physical = ORDINARY + (page * 3 + 1) * PAGE;
            self.map_kernel(VMALLOC + page * PAGE, 3, physical | KERNEL_DATA);
        }
        let structs = ORDINARY + BLOCK;
        self.map_kernel(VMEMMAP, 2, structs | KERNEL_DATA & !NOT_BLOCK);
    }
}

/// Index of the entry for `va` in a table of `level`; 0 to 255 for the outer view's root.
pub const fn index(va: u64, level: u32) -> u64 {
    let entries = if level == 0 { 256 } else { 512 };
    (va >> (39 - 9 * level)) % entries
}

/// The devices of the machine.
pub fn devices() -> DeviceList {
    let banks = [
        (FLASH, FLASH + BLOCK),
        (UART, UART + PAGE),
        (BETWEEN, BETWEEN + PAGE),
    ]
    .map(|(start, end)| Bank { start, end });
    DeviceList::from_banks(&banks).expect("few ranges")
}

fn range((start, end): (u64, u64)) -> Range {
    Range::new(start, end).expect("not empty")
}
