// SPDX-License-Identifier: MIT OR Apache-2.0
//! The contents of the memory of the machine.

use std::mem::offset_of;
use std::ops::Range;
use std::rc::Rc;

use donjon_abi::boot_info::{Arrival, BootInfo};
use donjon_abi::layout::{
    GATE, GATE_TLBI_LIST, PHYSMAP_SLOT, SLOT_SIZE, TABLE_BLOCK_SIZE, TEXT_WINDOW,
};
use donjon_abi::tcr::{COMPARTMENT_ASID, INSIDE, RESERVED_ASID};

use super::layout::*;
use super::{TestMachine, Tree};
use crate::checks::vectors::comparison;
use crate::descriptor::{PAGE, shift};
use crate::metadata::{self, POOL_FREE, TEXT_FREE};
use crate::walk::UPPER;

impl TestMachine {
    pub(super) fn linear_map(&mut self) {
        for pa in (RAM..RAM + RAM_SIZE).step_by(MEBIBYTES_2 as usize) {
            let va = UPPER + pa - RAM;
            let pooled = [POOL, TEXT_POOL].contains(&pa);
            let whole = ![STAY & !(MEBIBYTES_2 - 1), PHYSICAL, REGION].contains(&pa);
            if pa == PRIVATE {
                continue;
            }
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

    pub(super) fn image(&mut self) {
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

    pub(super) fn modules_and_devices(&mut self) {
        self.map(Tree::Kernel, MODULE, TEXT_POOL, 3, KERNEL_TEXT);
        self.map(Tree::Kernel, VMALLOC, FRAME + 8 * PAGE, 3, KERNEL_DATA);
        let registers = AF | PXN | UXN | DEVICE;
        self.map(Tree::Kernel, VMALLOC + 0x10_0000, UART, 3, registers);
        let page = VMALLOC + 0x10_0000 + PAGE;
        self.map(Tree::Kernel, page, MAILBOX, 3, registers | READ_ONLY);
    }

    pub(super) fn inner(&mut self) {
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

    /// What the boot stage leaves for CPUs that arrive, and its description of the machine.
    pub(super) fn arrival(&mut self) {
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
        put(offset_of!(BootInfo, frame_table), FRAME_TABLE..INFO);
        put(offset_of!(BootInfo, user_arena), ARENA..LOWER);
        put(offset_of!(BootInfo, user_trees), TREES..TREES + PAGE);
        put(
            offset_of!(BootInfo, private_words),
            PRIVATE_WORDS..COMPARTMENT_ROOTS,
        );
        let roots = COMPARTMENT_ROOTS..COMPARTMENT_ROOTS + PAGE;
        put(offset_of!(BootInfo, compartment_roots), roots);
        self.write(INFO + offset_of!(BootInfo, root) as u64, Self::root());
        let at = INFO + offset_of!(BootInfo, reserved_root) as u64;
        self.write(at, Self::empty_root());
    }

    /// The pools, and in them the tables that are there already.
    pub(super) fn metadata(&mut self) {
        let tables: Vec<(u64, u8)> = (POOL..self.next_table)
            .step_by(PAGE as usize)
            .map(|it| (it, self.kind(it)))
            .collect();
        self.set_block(POOL, POOL_FREE, 1);
        self.set_block(TEXT_POOL, TEXT_FREE, 0);
        for (table, kind) in tables {
            self.set_kind(table, kind);
        }
        self.set_kind(TEXT_POOL, metadata::TEXT);
    }

    /// A compartment, the first one, in a block that has nothing else.
    pub(super) fn compartment(&mut self) {
        const FREE: u64 = 1 << 31;
        self.set_block(PRIVATE, metadata::PRIVATE, 0);
        for frame in (PRIVATE..PRIVATE + MEBIBYTES_2).step_by(PAGE as usize) {
            self.set_owner(frame, if frame <= CONTEXT_FRAME { 1 } else { FREE | 7 });
        }
        self.write(COMPARTMENT_ROOTS, PRIVATE);
        for level in 0..3 {
            let table = PRIVATE + level * PAGE;
            let index = COMPARTMENT_CODE >> shift(level as u8) & 511;
            self.write(table + index * 8, (table + PAGE) | 3);
        }
        let data = USER_DATA;
        for (va, frame, bits) in [
            (COMPARTMENT_CODE, CODE_FRAME, data & !UXN | READ_ONLY),
            (COMPARTMENT_DATA, DATA_FRAME, data),
            (COMPARTMENT_SHARED, FRAME + 2 * PAGE, data),
        ] {
            self.write(Self::compartment_entry(va), frame | bits | 3);
            self.write(frame + 8, 0x5ec2e7);
        }
    }

    /// A clone of the compartment, with its code.
    pub fn clone_of_compartment(&mut self) {
        for frame in (0..4).map(|it| CLONE + it * PAGE) {
            self.set_owner(frame, 2);
            for at in (frame..frame + PAGE).step_by(8) {
                self.write(at, 0);
            }
        }
        self.write(COMPARTMENT_ROOTS + 8, CLONE);
        for level in 0..3 {
            let table = CLONE + level * PAGE;
            let index = COMPARTMENT_CODE >> shift(level as u8) & 511;
            self.write(table + index * 8, (table + PAGE) | 3);
        }
        let code = self.word(Self::compartment_entry(COMPARTMENT_CODE));
        self.write(Self::clone_entry(COMPARTMENT_CODE), code);
    }

    /// Where a page of the clone is mapped.
    pub fn clone_entry(va: u64) -> u64 {
        CLONE + 3 * PAGE + (va >> 12 & 511) * 8
    }

    /// Where a page of the compartment is mapped.
    pub fn compartment_entry(va: u64) -> u64 {
        PRIVATE + 3 * PAGE + (va >> 12 & 511) * 8
    }

    /// Writes down who has a private frame.
    pub fn set_owner(&mut self, frame: u64, owner: u64) {
        let at = PRIVATE_WORDS + (frame - RAM) / PAGE * 4;
        let shift = 8 * (at & 4);
        let word = self.word(at & !7) & !(0xffff_ffff << shift);
        self.write(at & !7, word | owner << shift);
    }

    /// A CPU runs the compartment.
    pub fn enter_compartment(&mut self, cpu: usize) {
        let cpu = &mut self.cpus[cpu];
        cpu.tcr = INSIDE;
        cpu.ttbr0 = PRIVATE | u64::from(COMPARTMENT_ASID) << 48;
        cpu.vbar = TEXT_WINDOW + 0x800;
        cpu.pc = COMPARTMENT_CODE + 8;
        cpu.pstate = 0;
        cpu.sctlr &= !(1 << 60 | 1 << 34 | 1 << 31 | 1 << 30 | 1 << 27 | 1 << 13 | 1 << 9 | 1 << 1);
    }

    /// Gives each CPU registers of EL2 with the values that the boot stage leaves.
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
}
