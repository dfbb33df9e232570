// SPDX-License-Identifier: MIT OR Apache-2.0
//! Machines with one violation each, which the auditor must name.

use donjon_abi::layout::{GATE, GATE_ENTRY, LINEAR_L1_PAGE, PHYSMAP_SLOT, SLOT_SIZE, TEXT_WINDOW};
use donjon_abi::tcr::{INNER, OUTER, RESERVED_ASID};

use super::machine::*;
use crate::code::AllowList;
use crate::descriptor::PAGE;
use crate::metadata::{KERNEL_ROOT, POOL_FREE};
use crate::of;
use crate::walk::UPPER;

struct Injected {
    invariant: &'static str,
    name: &'static str,
    /// What the violation says, and where.
    text: &'static str,
    change: fn(&mut TestMachine),
}

const fn inject(
    invariant: &'static str,
    name: &'static str,
    text: &'static str,
    change: fn(&mut TestMachine),
) -> Injected {
    Injected {
        invariant,
        name,
        text,
        change,
    }
}

const K: Tree = Tree::Kernel;
const U: Tree = Tree::User(0);
/// EnDB, EnDA, EnIB and EnIA.
pub const KEYS: u64 = 1 << 13 | 1 << 27 | 1 << 30 | 1 << 31;
const SPARE: u64 = VMALLOC + 0x20_0000;

#[rustfmt::skip]
const MAPPINGS: [Injected; 55] = [
    inject("I1", "a user table under two parents", "two parents", |m| {
        let from = m.entry(U, 0x40_0000, 2);
        let to = m.entry(Tree::User(1), 0x80_0000, 2);
        m.write(to, m.word(from));
    }),
    inject("I1", "a root as its own level 1", "two parents", |m| {
        let root = m.roots[0];
        let at = m.entry(U, 1 << 40, 0);
        m.write(at, root | 3);
    }),
    inject("I1", "a table in an ordinary frame", "is in no PT frame", |m| {
        let at = m.entry(U, 1 << 41, 0);
        m.write(at, (FRAME + 3 * PAGE) | 3);
    }),
    inject("I1", "a table where no RAM is", "not in RAM", |m| {
        let at = m.entry(K, SPARE, 2);
        m.write(at, 0x8000_0003);
    }),
    inject("I2", "the pool writable in the linear map", "PT frame is writable", |m| {
        m.change(K, UPPER + POOL - RAM, 2, |raw| raw & !READ_ONLY);
    }),
    inject("I2", "the pool with DBM", "PT frame is writable", |m| {
        m.change(K, UPPER + POOL - RAM, 2, |raw| raw | DIRTY);
    }),
    inject("I2", "a free frame of the pool in vmalloc", "PT frame is writable", |m| {
        m.map(K, SPARE, POOL + 0x1f_f000, 3, KERNEL_DATA);
    }),
    inject("I2", "the root in a process", "PT frame is writable", |m| {
        m.map(U, 0x41_0000, TestMachine::root(), 3, USER_DATA);
    }),
    inject("I3", "an inner frame, read-only", "an inner frame is mapped", |m| {
        m.map(K, SPARE, REGION + 2 * PAGE, 3, KERNEL_DATA | READ_ONLY);
    }),
    inject("I3", "the page that stays, in a process", "an inner frame is mapped", |m| {
        m.map(U, 0x41_0000, STAY, 3, USER_DATA);
    }),
    inject("I3", "the gate as data", "at another address", |m| {
        m.map(K, SPARE, GATE_FRAME, 3, KERNEL_DATA | READ_ONLY);
    }),
    inject("I4", "writable and executable", "writable and executable", |m| {
        m.map(K, SPARE, FRAME + 4 * PAGE, 3, KERNEL_DATA & !PXN);
    }),
    inject("I4", "a module's text writable elsewhere", "text pool is writable", |m| {
        m.map(K, SPARE, TEXT_POOL, 3, KERNEL_DATA);
    }),
    inject("I4", "read-only data writable in the linear map", "read-only data is writable", |m| {
        m.change(K, UPPER + PHYSICAL + RODATA - RAM, 3, |raw| raw & !READ_ONLY);
    }),
    inject("I4", "an ordinary frame executable", "no text", |m| {
        m.map(K, SPARE, FRAME + 4 * PAGE, 3, KERNEL_TEXT);
    }),
    inject("I5", "a user page without PXN", "user mapping is executable", |m| {
        m.change(U, 0x7fff_0000, 3, |raw| raw & !PXN);
    }),
    inject("I5", "kernel text for EL0 as well", "that EL0 has too", |m| {
        m.change(K, IMAGE + TEXT + 0x3000, 3, |raw| raw | USER);
    }),
    inject("I6", "HD in TCR", "TCR_EL1", |m| m.cpus[1].tcr = OUTER | 1 << 40),
    inject("I6", "the inner view outside", "TCR_EL1", |m| m.cpus[1].tcr = INNER),
    inject("I6", "another root in TTBR1", "TTBR1_EL1", |m| m.cpus[1].ttbr1 ^= PAGE),
    inject("I6", "CnP in TTBR1", "TTBR1_EL1", |m| m.cpus[1].ttbr1 |= 1),
    inject("I6", "CnP in TTBR0", "CnP", |m| m.cpus[1].ttbr0 |= 1),
    inject("I6", "an ordinary frame in TTBR0", "no root of the arena but", |m| {
        m.cpus[1].ttbr0 = (FRAME + 3 * PAGE) | (0x33 << 48);
    }),
    inject("I6", "one ASID for two roots", "serves two roots", |m| {
        m.cpus[1].ttbr0 = m.roots[1] | 0x31 << 48;
    }),
    inject("I6", "the MMU off", "SCTLR_EL1", |m| m.cpus[1].sctlr &= !1),
    inject("I6", "a key of pointers without the others", "keys of pointers", |m| {
        m.cpus[1].sctlr |= 1 << 31;
    }),
    inject("I6", "keys of pointers on one CPU", "SCTLR_EL1 differs", |m| {
        m.cpus[1].sctlr |= KEYS;
    }),
    inject("I6", "other vectors", "VBAR_EL1", |m| m.cpus[1].vbar += 0x800),
    inject("I6", "other memory types", "MAIR_EL1", |m| m.cpus[1].mair = 0),
    inject("I6", "permission indirection", "TCR2_EL1", |m| {
        m.cpus[1].extensions.push(("TCR2_EL1".to_owned(), 2));
    }),
    inject("I7", "a nop in the comparison", "vector slot 5", |m| {
        m.write_code(PHYSICAL + TEXT + 0x800 + 5 * 0x80 + 8, 0xd503_201f);
    }),
    inject("I7", "the branch gone", "vector slot 0", |m| {
        m.write_code(PHYSICAL + TEXT + 0x800 + 6 * 4, 0xd503_201f);
    }),
    inject("I7", "vectors writable", "the vectors are writable", |m| {
        m.change(K, IMAGE + TEXT, 3, |raw| raw & !READ_ONLY);
    }),
    inject("I8", "a write of TTBR0 in a module", "0xd5182000", |m| {
        m.write_code(TEXT_POOL + 0x104, 0xd518_2000);
    }),
    inject("I8", "HLT, set/way and TTBR0 on the allow-list", "HLT\"), must never", |m| {
        allow_everything(m);
        m.write_code(TEXT_POOL + 0x104, 0xd440_0000);
    }),
    inject("I8", "DC ISW on the allow-list", "by set and way", |m| {
        allow_everything(m);
        m.write_code(TEXT_POOL + 0x104, 0xd508_7640);
    }),
    inject("I8", "a write of TTBR0 on the allow-list", "writes TTBR0_EL1", |m| {
        allow_everything(m);
        m.write_code(TEXT_POOL + 0x104, 0xd518_2000);
    }),
    inject("I8", "HLT in the kernel", "HLT", |m| {
        m.write_code(PHYSICAL + TEXT + 0x3000, 0xd440_0000);
    }),
    inject("I8", "a second write of TCR in the gate", "the gate page writes", |m| {
        m.write_code(GATE_FRAME + GATE_ENTRY % PAGE, 0xd518_2040);
    }),
    inject("I9", "a kernel page non-global", "outer half is not global", |m| {
        m.change(K, VMALLOC, 3, |raw| raw | NON_GLOBAL);
    }),
    inject("I9", "a user page global", "a user leaf is global", |m| {
        m.change(U, 0x40_0000, 3, |raw| raw & !NON_GLOBAL);
    }),
    inject("I9", "an inner page global", "an inner-only leaf is global", |m| {
        m.change(Tree::Inner, TEXT_WINDOW, 3, |raw| raw & !NON_GLOBAL);
    }),
    inject("I9", "halves that differ", "halves of the root disagree", |m| {
        let at = m.entry(K, VMALLOC, 0);
        m.write(at + PAGE / 2, 0);
    }),
    inject("I9", "halves that differ, the other way", "halves of the root disagree", |m| {
        let at = m.entry(K, VMALLOC, 0);
        m.write(at, 0);
    }),
    inject("I9", "an outer entry for an inner slot", "inner-only slot is valid", |m| {
        let at = TestMachine::root() + 8 * PHYSMAP_SLOT as u64;
        m.write(at, m.word(at + PAGE / 2));
    }),
    inject("I9", "the reserved ASID in use", "the reserved ASID", |m| {
        m.cpus[1].ttbr0 = m.roots[1] | u64::from(RESERVED_ASID) << 48;
    }),
    inject("I10", "a block over pool and others", "covers frames of types", |m| {
        // The page that stays is in it.
        m.map(K, SPARE, LOADED, 2, KERNEL_DATA);
    }),
    inject("I10", "a contiguous bit on one entry of sixteen", "not one of sixteen", |m| {
        m.change(U, 0x40_0000, 3, |raw| raw | CONTIGUOUS);
    }),
    inject("I10", "text non-cacheable elsewhere", "memory attribute 0x44", |m| {
        m.change(K, UPPER + PHYSICAL + TEXT - RAM, 3, |raw| raw | NON_CACHEABLE);
    }),
    inject("I10", "cached data that is not shareable", "not inner shareable, SH 0b00", |m| {
        m.map(K, SPARE, FRAME + 4 * PAGE, 3, KERNEL_DATA & !SHARED);
    }),
    inject("I13", "the gate at a second address", "second address", |m| {
        m.map(K, SPARE, GATE_FRAME, 3, KERNEL_TEXT);
    }),
    inject("I13", "the vectors at a second address", "second address", |m| {
        m.map(K, SPARE, PHYSICAL + TEXT, 3, KERNEL_TEXT);
    }),
    inject("I15", "the device that copies anywhere", "a withheld device", |m| {
        m.map(K, SPARE, FW_CFG, 3, AF | PXN | UXN | DEVICE);
    }),
    inject("I15", "a mailbox in a page of other registers", "withheld device are writable", |m| {
        m.map(K, SPARE, MAILBOX, 3, AF | PXN | UXN | DEVICE);
    }),
    inject("I15", "an unknown device", "no device of the list", |m| {
        m.map(U, 0x41_0000, 0x0b00_0000, 3, USER_DATA | DEVICE);
    }),
];

/// Puts on the allow-list what must never be on it.
fn allow_everything(m: &mut TestMachine) {
    let list = "[[allowed]]\nentries = [ \
                { encoding = \"S0_3_C2_C0_0 S3_0-7_C0-15_C0-15_0-7 S1_0-7_C0-15_C0-15_0-7\" }, \
                { encoding = \"HLT\" } ]\n";
    m.fixed.allowed = AllowList::parse(list).expect("a list");
}

#[rustfmt::skip]
const COMPARTMENTS: [Injected; 24] = [
    inject("I19", "a private frame in vmalloc", "a private frame is mapped", |m| {
        m.map(K, SPARE, DATA_FRAME, 3, KERNEL_DATA | READ_ONLY);
    }),
    inject("I19", "private memory in the linear map", "a private frame is mapped", |m| {
        m.map(K, UPPER + PRIVATE - RAM, PRIVATE, 2, KERNEL_DATA);
    }),
    inject("I19", "a free private frame in a process", "a private frame is mapped", |m| {
        m.map(U, 0x41_0000, PRIVATE + 0x1f_f000, 3, USER_DATA);
    }),
    inject("I20", "a page of another compartment", "uses a frame of Some(2)", |m| {
        m.set_owner(DATA_FRAME, 2);
    }),
    inject("I20", "a table that is free", "uses a frame of Some(0)", |m| {
        m.set_owner(PRIVATE + PAGE, 1 << 31);
    }),
    inject("I20", "a frame at two addresses", "that is used at", |m| {
        m.write(TestMachine::compartment_entry(0x40_5000), DATA_FRAME | USER_DATA | 3);
    }),
    inject("I20", "data that is executed", "writable and executable", |m| {
        let entry = TestMachine::compartment_entry(COMPARTMENT_DATA);
        m.write(entry, DATA_FRAME | USER_DATA & !UXN | 3);
    }),
    inject("I20", "code for EL1", "is executable at EL1", |m| {
        let entry = TestMachine::compartment_entry(COMPARTMENT_DATA);
        m.write(entry, DATA_FRAME | USER_DATA & !PXN | 3);
    }),
    inject("I20", "a global page", "is global", |m| {
        let entry = TestMachine::compartment_entry(COMPARTMENT_DATA);
        m.write(entry, DATA_FRAME | USER_DATA & !NON_GLOBAL | 3);
    }),
    inject("I20", "Linux's memory executed", "executable and not private", |m| {
        let bits = USER_DATA & !UXN | READ_ONLY;
        m.write(TestMachine::compartment_entry(COMPARTMENT_SHARED), (FRAME + 2 * PAGE) | bits | 3);
    }),
    inject("I20", "inner memory shared", "neither private nor ordinary", |m| {
        let entry = TestMachine::compartment_entry(COMPARTMENT_SHARED);
        m.write(entry, (REGION + 2 * PAGE) | USER_DATA | 3);
    }),
    inject("I20", "another one's code in place of data", "its owner does not have there so", |m| {
        m.clone_of_compartment();
        let code = m.word(TestMachine::compartment_entry(COMPARTMENT_CODE));
        m.write(TestMachine::clone_entry(COMPARTMENT_DATA), code);
    }),
    inject("I20", "code that its owner may not execute", "its owner does not have there so", |m| {
        m.clone_of_compartment();
        let entry = TestMachine::compartment_entry(COMPARTMENT_CODE);
        m.write(entry, m.word(entry) | UXN);
    }),
    inject("I20", "constants that another one may write", "another one may write", |m| {
        m.clone_of_compartment();
        let data = DATA_FRAME | USER_DATA | READ_ONLY | 3;
        m.write(TestMachine::clone_entry(COMPARTMENT_DATA), data);
    }),
    inject("I20", "an entry beyond the end", "an entry that no rule makes", |m| {
        m.write(PRIVATE + 300 * 8, (PRIVATE + PAGE) | 3);
    }),
    inject("I21", "a process's root in a compartment", "no compartment's", |m| {
        m.enter_compartment(1);
        m.cpus[1].ttbr0 = m.roots[1] | 0x32 << 48;
    }),
    inject("I21", "Linux's vectors in a compartment", "not the inner domain's", |m| {
        m.enter_compartment(1);
        m.cpus[1].vbar = IMAGE + TEXT + 0x800;
    }),
    inject("I21", "vectors beside the inner domain's", "not the inner domain's", |m| {
        m.enter_compartment(1);
        m.cpus[1].vbar += 0x800;
    }),
    inject("I21", "a TLB that CPUs share in a compartment", "no compartment's", |m| {
        m.enter_compartment(1);
        m.cpus[1].ttbr0 |= 1;
    }),
    inject("I21", "Linux with a compartment's TCR_EL1", "is not in inner code", |m| {
        m.enter_compartment(1);
        m.cpus[1].pc = IMAGE + TEXT + 0x2000;
        m.cpus[1].pstate = 5;
    }),
    inject("I21", "Linux's keys in a compartment", "SCTLR_EL1 is", |m| {
        m.enter_compartment(1);
        m.cpus[1].sctlr |= KEYS;
    }),
    inject("I21", "another one's vectors on the way", "on the way", |m| {
        m.enter_compartment(1);
        (m.cpus[1].tcr, m.cpus[1].pc, m.cpus[1].pstate) = (INNER, TEXT_WINDOW + 0x420, 5);
        m.cpus[1].vbar = IMAGE + TEXT + 0x1800;
    }),
    inject("I21", "the compartments' ASID with another root on the way", "on the way", |m| {
        m.enter_compartment(1);
        (m.cpus[1].tcr, m.cpus[1].pc, m.cpus[1].pstate) = (INNER, TEXT_WINDOW + 0x420, 5);
        m.cpus[1].ttbr0 += PAGE;
    }),
    inject("I22", "a word that was not wiped", "is not zero", |m| {
        m.write(PRIVATE + 0x1f_f100, 1);
    }),
];

#[rustfmt::skip]
const REGISTERS: [Injected; 27] = [
    inject("I9", "the reserved ASID with the empty root", "the reserved ASID", |m| {
        m.cpus[1].ttbr0 = TestMachine::empty_root() | u64::from(RESERVED_ASID) << 48;
    }),
    inject("I6", "the empty root with an ASID", "the empty root with ASID", |m| {
        m.cpus[1].ttbr0 = TestMachine::empty_root() | 0x44 << 48;
    }),
    inject("I6", "a user root with ASID 0", "a user root with ASID 0", |m| {
        m.cpus[1].ttbr0 = m.roots[1];
    }),
    inject("I6", "CnP with the empty root", "CnP", |m| {
        m.cpus[1].ttbr0 = TestMachine::empty_root() | 1;
    }),
    inject("I6", "a table of another level as root", "is not the root of ASID", |m| {
        let table = m.entry(U, 0x40_0000, 1) & !0xfff;
        m.cpus[1].ttbr0 = table | 0x33 << 48;
    }),
    inject("I6", "a root with another tree's ASID", "is not the root of ASID", |m| {
        m.cpus[0].ttbr0 = m.roots[1] | 0x31 << 48;
        m.cpus[1].ttbr0 = TestMachine::empty_root();
    }),
    inject("I6", "a tree that is no ASID's", "is not the root of ASID", |m| {
        let root = m.table(U, 0);
        m.cpus[1].ttbr0 = root | 0x33 << 48;
    }),
    inject("I6", "a free frame of a pool as root", "no root of the arena but", |m| {
        m.cpus[1].ttbr0 = (POOL + 0x1f_f000) | 0x33 << 48;
    }),
    inject("I6", "the kernel's root", "no root of the arena but", |m| {
        m.cpus[1].ttbr0 = TestMachine::root() | 0x33 << 48;
    }),
    inject("I6", "a root in a block that is read-only and no pool", "no root of the arena but", |m| {
        let hidden = 0x42a0_0000;
        m.change(K, UPPER + hidden - RAM, 2, |raw| raw | READ_ONLY);
        m.roots.push(hidden);
        m.map(Tree::User(2), 0x40_0000, FRAME, 3, USER_DATA);
        m.cpus[1].ttbr0 = hidden | 0x33 << 48;
    }),
    inject("I6", "a tree of two ASIDs", "a tree has two ASIDs", |m| {
        let root = m.roots[1];
        m.set_tree(0x35, root);
    }),
    inject("I9", "a tree of the reserved ASID", "is reserved and has a tree", |m| {
        let root = m.table(U, 0);
        m.set_tree(u64::from(RESERVED_ASID), root);
    }),
    inject("I6", "other attributes by AMAIR", "AMAIR_EL1", |m| m.cpus[1].amair = 1),
    inject("I6", "AMAIR on one CPU alone", "AMAIR_EL1 differs", |m| m.cpus[1].amair = 1),
    inject("I6", "a CPU that executes where a reset leaves it", "TCR_EL1", |m| {
        m.cpus[1] = off(1);
        m.cpus[1].halted = false;
    }),
    inject("I11", "a root in a CPU that is off", "that is off has TTBR0_EL1", |m| {
        m.cpus[1] = off(1);
        m.cpus[1].ttbr0 = FRAME;
    }),
    inject("I11", "stage 2 in a CPU that is off", "that is off has HCR_EL2", |m| {
        m.start_at_el2();
        m.cpus[1] = off(1);
        m.cpus[1].level_2.push(("HCR_EL2".to_owned(), 1));
    }),
    inject("I11", "a CPU switched off with a user root", "that was switched off", |m| {
        let cpu = &mut m.cpus[1];
        (cpu.halted, cpu.tcr, cpu.pc) = (true, INNER, GATE - 0x100);
    }),
    inject("I11", "a CPU at EL2", "is at EL2", |m| m.cpus[1].pstate = 0b1001),
    inject("I11", "a CPU too many", "QEMU has 3 CPUs", |m| m.cpus.push(off(2))),
    inject("I17", "stage 2 on", "HCR_EL2", |m| {
        m.start_at_el2();
        m.set_el2(1, "HCR_EL2", 0x300_a010_0003);
    }),
    inject("I17", "other vectors of EL2", "VBAR_EL2", |m| {
        m.start_at_el2();
        m.set_el2(1, "VBAR_EL2", FRAME);
    }),
    inject("I17", "another CPU's number", "VMPIDR_EL2", |m| {
        m.start_at_el2();
        m.set_el2(1, "VMPIDR_EL2", 0x8000_0000);
    }),
    inject("I17", "debug exceptions to EL2", "MDCR_EL2", |m| {
        m.start_at_el2();
        m.set_el2(1, "MDCR_EL2", 1 << 8);
    }),
    inject("I17", "virtual NMIs", "HCRX_EL2", |m| {
        m.start_at_el2();
        m.set_el2(1, "HCRX_EL2", 1 << 11 | 1 << 7);
    }),
    inject("I17", "the MMU of EL2", "SCTLR_EL2", |m| {
        m.start_at_el2();
        m.set_el2(1, "SCTLR_EL2", 0x30c5_0831);
    }),
    inject("I17", "a register that is not shown", "does not show HCR_EL2", |m| {
        m.start_at_el2();
        m.cpus[1].level_2.clear();
    }),
];

#[rustfmt::skip]
const FRAMES: [Injected; 20] = [
    inject("I1", "tables in a block that is read-only and no pool", "is in no PT frame", |m| {
        let hidden = 0x42a0_0000;
        m.change(K, UPPER + hidden - RAM, 2, |raw| raw | READ_ONLY);
        let at = m.entry(U, 1 << 41, 0);
        m.write(at, hidden | 3);
    }),
    inject("I1", "a table of the wrong level", "has written down that a table of level 3", |m| {
        let table = m.entry(K, VMALLOC, 3) & !0xfff;
        m.set_kind(table, KERNEL_ROOT + 2);
    }),
    inject("I1", "a table that is a free frame", "has written down that", |m| {
        let table = m.entry(K, VMALLOC, 3) & !0xfff;
        m.set_kind(table, POOL_FREE);
    }),
    inject("I2", "a pool that is writable", "PT frame is writable", |m| {
        m.set_block(0x42a0_0000, POOL_FREE, 2);
    }),
    inject("I4", "text in a block that is no pool of text", "and no text", |m| {
        m.set_block(TEXT_POOL, 0, 0);
    }),
    inject("I1", "a kernel table in the arena", "is in no PT frame", |m| {
        let table = m.table(U, 3);
        let at = m.entry(K, SPARE, 2);
        m.write(at, table | 3);
    }),
    inject("I1", "a user table in a pool", "is in no PT frame", |m| {
        let at = m.entry(U, 1 << 41, 0);
        m.write(at, (POOL + 0x1f_f000) | 3);
    }),
    inject("I5", "a process that does not run", "user mapping is exec", |m| {
        m.cpus[1].ttbr0 = TestMachine::empty_root();
        m.change(Tree::User(1), 0x40_0000, 3, |raw| raw & !PXN);
    }),
    inject("I15", "registers of a device in a process", "mapped for a process", |m| {
        m.map(U, 0x41_0000, UART, 3, USER_DATA | DEVICE);
    }),
    inject("I16", "inner text", "are not the boot image's", |m| {
        let at = m.entry(Tree::Inner, TEXT_WINDOW, 3);
        let page = m.word(at) & 0xffff_f000;
        m.write_code(page + 0x404, 0xd503_201f);
    }),
    inject("I16", "inner text that is not mapped", "are not mapped", |m| {
        m.change(Tree::Inner, TEXT_WINDOW, 3, |_| 0);
    }),
    inject("I16", "a word in the gate", "are not the boot image's", |m| {
        m.write_code(GATE_FRAME + 0x7f0, 0xd503_201f);
    }),
    inject("I16", "more text than the boot image has", "what the boot image has not", |m| {
        let page = m.table(Tree::Inner, 0);
        m.map(Tree::Inner, TEXT_WINDOW + PAGE, page, 3, KERNEL_TEXT | NON_GLOBAL);
        m.write_code(page + 8, 0xd65f_03c0);
    }),
    inject("I16", "inner text that is writable", "no text, or writable", |m| {
        m.change(Tree::Inner, TEXT_WINDOW, 3, |raw| raw & !READ_ONLY);
    }),
    inject("I16", "the page where CPUs arrive", "where CPUs arrive is not", |m| {
        m.write_code(STAY + 0x800, 0xd503_201f);
    }),
    inject("I16", "another root for CPUs that arrive", "gets TTBR1_EL1", |m| {
        m.write(STAY + ARRIVAL + 8, FRAME);
    }),
    inject("I16", "another entry", "gets the entry", |m| m.write(STAY + ARRIVAL + 24, IMAGE)),
    inject("I16", "the MMU off on arrival", "gets SCTLR_EL1", |m| m.write(STAY + ARRIVAL + 16, 0)),
    inject("I16", "more in the lower half on arrival", "is not the page that stays", |m| {
        m.map(Tree::Lower, STAY + PAGE, FRAME, 3, KERNEL_TEXT | NON_GLOBAL);
    }),
    inject("I16", "a stray word in the gate's list", "the gate's list has 3", |m| {
        m.fill_list();
        m.write(GATE_FRAME + 0x810, 0x1234);
    }),
];

#[rustfmt::skip]
const GEOMETRY: [Injected; 5] = [
    inject("I14", "a word in a page of zeros", "a stray word", |m| {
        m.write(TestMachine::block(0) + 0x210, FRAME | 3);
    }),
    inject("I14", "the linear map's table elsewhere", "not in its page", |m| {
        let table = m.table(K, 1);
        m.memory.0.insert(table, m.memory.0[&TestMachine::block(LINEAR_L1_PAGE)]);
        m.write(TestMachine::root(), table | 3);
        m.write(TestMachine::root() + PAGE / 2, table | 3);
    }),
    inject("I14", "the gate's table elsewhere", "the gate's table of level 2", |m| {
        let at = m.entry(K, GATE, 1);
        let table = m.table(K, 2);
        m.memory.0.insert(table, m.memory.0[&(m.word(at) & !0xfff)]);
        m.write(at, table | 3);
    }),
    inject("I14", "a slot that a forged granule reads", "forged", |m| {
        m.map(K, UPPER + 8 * SLOT_SIZE, FRAME, 3, KERNEL_DATA);
    }),
    inject("I14", "a linear map without PXN", "other memory is executed", |m| {
        m.map(K, UPPER + (GATE & (SLOT_SIZE - 1)), FRAME, 2, KERNEL_TEXT);
        // What the vectors' address has in the linear map's slot.
        m.map(K, UPPER + 0x8000_0000, FRAME, 2, KERNEL_TEXT);
    }),
];

fn all() -> impl Iterator<Item = &'static Injected> {
    MAPPINGS
        .iter()
        .chain(&COMPARTMENTS)
        .chain(&REGISTERS)
        .chain(&FRAMES)
        .chain(&GEOMETRY)
}

#[test]
fn every_plant_is_named() {
    for Injected {
        invariant,
        name,
        text,
        change,
    } in all()
    {
        let mut machine = TestMachine::clean();
        change(&mut machine);
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
    let injected = |id: &String| all().any(|it| it.invariant == id);
    let seen = (1..=17).filter(|it| *it != 12).map(|it| format!("I{it}"));
    let without: Vec<String> = seen.filter(|it| !injected(it)).collect();
    assert!(without.is_empty(), "{without:?}");
}
