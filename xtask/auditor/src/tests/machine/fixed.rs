// SPDX-License-Identifier: MIT OR Apache-2.0
//! The facts about the machine that are known before it starts, and its CPUs.

use std::rc::Rc;

use donjon_abi::boot_info::Arrival;
use donjon_abi::layout::{GATE, GATE_ENTRY_WRITE, TEXT_WINDOW};
use donjon_abi::tcr::{MAIR, OUTER, RESERVED_ASID};

use super::TestMachine;
use super::layout::*;
use crate::capture::Fixed;
use crate::code::AllowList;
use crate::descriptor::PAGE;
use crate::devices::Machinery;
use crate::image::{Constant, Image, Stay};
use crate::snapshot::{Cpu, Linux};

pub(super) fn fixed() -> Fixed {
    Fixed {
        machinery: Machinery {
            mpidrs: vec![0, 1],
            ram: vec![RAM..RAM + RAM_SIZE],
            devices: vec![UART..UART + PAGE],
            read_only: vec![MAILBOX..MAILBOX + PAGE],
            withheld: vec![FW_CFG..FW_CFG + PAGE, MAILBOX..MAILBOX + PAGE],
            smmu: None,
            behind: Vec::new(),
            usb: None,
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
        dma: true,
        entry: ENTRY,
        context: TEXT_WINDOW..TEXT_WINDOW + PAGE,
        stay: Stay {
            place: STAY - LOADED..STAY - LOADED + PAGE,
            bytes: stay,
            relocated: vec![(STAY - LOADED + 0x40, 0x1234)],
            arrival: STAY - LOADED + ARRIVAL..STAY - LOADED + ARRIVAL + size_of::<Arrival>() as u64,
            el2_vectors: STAY - LOADED + EL2_VECTORS,
        },
    }
}

pub(super) fn cpu(number: u32, ttbr0: u64) -> Cpu {
    Cpu {
        number,
        pc: IMAGE + TEXT + 0x2000,
        ttbr0,
        ttbr1: TestMachine::root() | u64::from(RESERVED_ASID) << 48,
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
