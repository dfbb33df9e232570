// SPDX-License-Identifier: MIT OR Apache-2.0
//! One violation each, which the auditor must name.

use donjon_abi::layout::{GATE, GATE_ENTRY, INNER_SLOT, LINEAR_L1_PAGE, PHYSMAP_SLOT, SLOT_SIZE};
use donjon_abi::tcr::{INNER, OUTER, RESERVED_ASID};

use super::machine::*;
use crate::audit::descriptor::PAGE;
use crate::audit::of;
use crate::audit::walk::UPPER;

struct Plant {
    invariant: &'static str,
    name: &'static str,
    /// What the violation says, and where.
    text: &'static str,
    plant: fn(&mut Machine),
}

const fn plant(
    invariant: &'static str,
    name: &'static str,
    text: &'static str,
    plant: fn(&mut Machine),
) -> Plant {
    Plant {
        invariant,
        name,
        text,
        plant,
    }
}

const K: Tree = Tree::Kernel;
const U: Tree = Tree::User(0);
const SPARE: u64 = VMALLOC + 0x20_0000;

#[rustfmt::skip]
const PLANTS: [Plant; 47] = [
    plant("I1", "a user table under two parents", "two parents", |m| {
        let from = m.entry(U, 0x40_0000, 2);
        let to = m.entry(Tree::User(1), 0x80_0000, 2);
        m.write(to, m.word(from));
    }),
    plant("I1", "a root as its own level 1", "two parents", |m| {
        let root = m.roots[0];
        let at = m.entry(U, 1 << 40, 0);
        m.write(at, root | 3);
    }),
    plant("I1", "a table in an ordinary frame", "is in no PT frame", |m| {
        let at = m.entry(U, 1 << 41, 0);
        m.write(at, (FRAME + 3 * PAGE) | 3);
    }),
    plant("I1", "a table where no RAM is", "not in RAM", |m| {
        let at = m.entry(K, SPARE, 2);
        m.write(at, 0x8000_0003);
    }),
    plant("I2", "the pool writable in the linear map", "PT frame is writable", |m| {
        m.change(K, UPPER + POOL - RAM, 2, |raw| raw & !READ_ONLY);
    }),
    plant("I2", "the pool with DBM", "PT frame is writable", |m| {
        m.change(K, UPPER + POOL - RAM, 2, |raw| raw | DIRTY);
    }),
    plant("I2", "a free frame of the pool in vmalloc", "PT frame is writable", |m| {
        m.map(K, SPARE, POOL + 0x1f_f000, 3, KERNEL_DATA);
    }),
    plant("I2", "the root in a process", "PT frame is writable", |m| {
        m.map(U, 0x41_0000, Machine::root(), 3, USER_DATA);
    }),
    plant("I3", "an inner frame, read-only", "an inner frame is mapped", |m| {
        m.map(K, SPARE, REGION + 2 * PAGE, 3, KERNEL_DATA | READ_ONLY);
    }),
    plant("I3", "the page that stays, in a process", "an inner frame is mapped", |m| {
        m.map(U, 0x41_0000, STAY, 3, USER_DATA);
    }),
    plant("I3", "the gate as data", "at another address", |m| {
        m.map(K, SPARE, GATE_FRAME, 3, KERNEL_DATA | READ_ONLY);
    }),
    plant("I4", "writable and executable", "writable and executable", |m| {
        m.map(K, SPARE, FRAME + 4 * PAGE, 3, KERNEL_DATA & !PXN);
    }),
    plant("I4", "a module's text writable elsewhere", "text pool is writable", |m| {
        m.map(K, SPARE, TEXT_POOL, 3, KERNEL_DATA);
    }),
    plant("I4", "read-only data writable in the linear map", "read-only data is writable", |m| {
        m.change(K, UPPER + PHYSICAL + RODATA - RAM, 3, |raw| raw & !READ_ONLY);
    }),
    plant("I4", "an ordinary frame executable", "no text", |m| {
        m.map(K, SPARE, FRAME + 4 * PAGE, 3, KERNEL_TEXT);
    }),
    plant("I5", "a user page without PXN", "user mapping is executable", |m| {
        m.change(U, 0x7fff_0000, 3, |raw| raw & !PXN);
    }),
    plant("I5", "kernel text for EL0 as well", "that EL0 has too", |m| {
        m.change(K, IMAGE + TEXT + 0x3000, 3, |raw| raw | USER);
    }),
    plant("I6", "HD in TCR", "TCR_EL1", |m| m.cpus[1].tcr = OUTER | 1 << 40),
    plant("I6", "the inner view outside", "TCR_EL1", |m| m.cpus[1].tcr = INNER),
    plant("I6", "another root in TTBR1", "TTBR1_EL1", |m| m.cpus[1].ttbr1 ^= PAGE),
    plant("I6", "CnP in TTBR1", "TTBR1_EL1", |m| m.cpus[1].ttbr1 |= 1),
    plant("I6", "CnP in TTBR0", "CnP", |m| m.cpus[1].ttbr0 |= 1),
    plant("I6", "an ordinary frame in TTBR0", "no user root", |m| {
        m.cpus[1].ttbr0 = (FRAME + 3 * PAGE) | (0x33 << 48);
    }),
    plant("I6", "one ASID for two roots", "serves two roots", |m| {
        m.cpus[1].ttbr0 = m.roots[1] | 0x31 << 48;
    }),
    plant("I6", "the MMU off", "SCTLR_EL1", |m| m.cpus[1].sctlr &= !1),
    plant("I6", "other vectors", "VBAR_EL1", |m| m.cpus[1].vbar += 0x800),
    plant("I6", "other memory types", "MAIR_EL1", |m| m.cpus[1].mair = 0),
    plant("I6", "permission indirection", "TCR2_EL1", |m| {
        m.cpus[1].extensions.push(("TCR2_EL1".to_owned(), 2));
    }),
    plant("I7", "a nop in the comparison", "vector slot 5", |m| {
        m.write_code(PHYSICAL + TEXT + 0x800 + 5 * 0x80 + 8, 0xd503_201f);
    }),
    plant("I7", "the branch gone", "vector slot 0", |m| {
        m.write_code(PHYSICAL + TEXT + 0x800 + 6 * 4, 0xd503_201f);
    }),
    plant("I7", "vectors writable", "the vectors are writable", |m| {
        m.change(K, IMAGE + TEXT, 3, |raw| raw & !READ_ONLY);
    }),
    plant("I8", "a write of TTBR0 in a module", "0xd5182000", |m| {
        m.write_code(TEXT_POOL + 0x104, 0xd518_2000);
    }),
    plant("I8", "HLT in the kernel", "HLT", |m| m.write_code(PHYSICAL + TEXT + 0x3000, 0xd440_0000)),
    plant("I8", "a second write of TCR in the gate", "the gate page writes", |m| {
        m.write_code(GATE_FRAME + GATE_ENTRY % PAGE, 0xd518_2040);
    }),
    plant("I9", "a kernel page non-global", "outer half is not global", |m| {
        m.change(K, VMALLOC, 3, |raw| raw | NON_GLOBAL);
    }),
    plant("I9", "a user page global", "a user leaf is global", |m| {
        m.change(U, 0x40_0000, 3, |raw| raw & !NON_GLOBAL);
    }),
    plant("I9", "an inner page global", "an inner-only leaf is global", |m| {
        let va = UPPER + INNER_SLOT as u64 * SLOT_SIZE;
        m.change(Tree::Inner, va, 3, |raw| raw & !NON_GLOBAL);
    }),
    plant("I9", "halves that differ", "halves of the root disagree", |m| {
        let at = m.entry(K, VMALLOC, 0);
        m.write(at + PAGE / 2, 0);
    }),
    plant("I9", "an outer entry for an inner slot", "inner-only slot is valid", |m| {
        let at = Machine::root() + 8 * PHYSMAP_SLOT as u64;
        m.write(at, m.word(at + PAGE / 2));
    }),
    plant("I9", "the reserved ASID in use", "the reserved ASID", |m| {
        m.cpus[1].ttbr0 = m.roots[1] | u64::from(RESERVED_ASID) << 48;
    }),
    plant("I10", "a block over pool and others", "covers frames of types", |m| {
        m.facts.table_pools = vec![POOL..POOL + 0x10_0000];
        m.change(K, UPPER + POOL - RAM, 2, |raw| raw & !READ_ONLY);
    }),
    plant("I10", "a contiguous bit on one entry of sixteen", "not one of sixteen", |m| {
        m.change(U, 0x40_0000, 3, |raw| raw | CONTIGUOUS);
    }),
    plant("I10", "text non-cacheable elsewhere", "memory attribute 0x44", |m| {
        m.change(K, UPPER + PHYSICAL + TEXT - RAM, 3, |raw| raw | NON_CACHEABLE);
    }),
    plant("I13", "the gate at a second address", "second address", |m| {
        m.map(K, SPARE, GATE_FRAME, 3, KERNEL_TEXT);
    }),
    plant("I13", "the vectors at a second address", "second address", |m| {
        m.map(K, SPARE, PHYSICAL + TEXT, 3, KERNEL_TEXT);
    }),
    plant("I15", "the device that copies anywhere", "a withheld device", |m| {
        m.map(K, SPARE, FW_CFG, 3, AF | PXN | UXN | DEVICE);
    }),
    plant("I15", "an unknown device", "no device of the list", |m| {
        m.map(U, 0x41_0000, 0x0b00_0000, 3, USER_DATA | DEVICE);
    }),
];

#[rustfmt::skip]
const GEOMETRY: [Plant; 5] = [
    plant("I14", "a word in a page of zeros", "a stray word", |m| {
        m.write(Machine::block(0) + 0x210, FRAME | 3);
    }),
    plant("I14", "the linear map's table elsewhere", "not in its page", |m| {
        let table = m.table(K);
        m.memory.0.insert(table, m.memory.0[&Machine::block(LINEAR_L1_PAGE)]);
        m.write(Machine::root(), table | 3);
        m.write(Machine::root() + PAGE / 2, table | 3);
    }),
    plant("I14", "the gate's table elsewhere", "the gate's table of level 2", |m| {
        let at = m.entry(K, GATE, 1);
        let table = m.table(K);
        m.memory.0.insert(table, m.memory.0[&(m.word(at) & !0xfff)]);
        m.write(at, table | 3);
    }),
    plant("I14", "a slot that a forged granule reads", "forged", |m| {
        m.map(K, UPPER + 8 * SLOT_SIZE, FRAME, 3, KERNEL_DATA);
    }),
    plant("I14", "a linear map without PXN", "other memory is executed", |m| {
        m.map(K, UPPER + (GATE & (SLOT_SIZE - 1)), FRAME, 2, KERNEL_TEXT);
        // What the vectors' address has in the linear map's slot.
        m.map(K, UPPER + 0x8000_0000, FRAME, 2, KERNEL_TEXT);
    }),
];

#[test]
fn every_plant_is_named() {
    for Plant {
        invariant,
        name,
        text,
        plant,
    } in PLANTS.iter().chain(&GEOMETRY)
    {
        let mut machine = Machine::clean();
        plant(&mut machine);
        let report = of(&machine.snapshot());
        let named = report
            .violations
            .iter()
            .any(|it| it.invariant == *invariant && it.text.contains(text) && !it.owner.is_empty());
        assert!(named, "{invariant}, {name}:\n{report}");
    }
}

#[test]
fn every_invariant_that_can_be_seen_has_a_plant() {
    let planted = |id: &String| PLANTS.iter().chain(&GEOMETRY).any(|it| it.invariant == id);
    let seen = (1..=15)
        .filter(|it| ![11, 12].contains(it))
        .map(|it| format!("I{it}"));
    let without: Vec<String> = seen.filter(|it| !planted(it)).collect();
    assert!(without.is_empty(), "{without:?}");
}
