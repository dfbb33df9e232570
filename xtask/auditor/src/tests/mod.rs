// SPDX-License-Identifier: MIT OR Apache-2.0
//! The auditor on a correct machine, and on machines with one violation.

#![allow(
    clippy::single_range_in_vec_init,
    reason = "lists of ranges, most of them with one"
)]

mod dma;
mod injected;
mod machine;

use std::mem::offset_of;

use donjon_abi::boot_info::BootInfo;
use donjon_abi::layout::{GATE, GATE_TLBI_LIST, TEXT_WINDOW};
use donjon_abi::tcr::INNER;
use machine::{
    FRAME, GATE_FRAME, INFO, KERNEL_DATA, LOADED, PHYSICAL, RAM, READ_ONLY, STAY, TestMachine,
    Tree, USER_DATA, VMALLOC, off,
};

use super::metadata::{KERNEL_ROOT, POOL_FREE};
use super::walk::UPPER;
use super::{Violation, of, since};

#[test]
fn a_machine_as_it_must_be_is_clean() {
    let report = of(&TestMachine::clean().snapshot());
    assert!(report.violations.is_empty(), "{report}");
    assert_eq!(report.cpus, 2);
    assert_eq!(report.user_roots, 2);
    // 96, one of them the gate, and the page that stays.
    assert_eq!(report.frames["inner"], 96);
    assert_eq!(report.frames["private"], 512);
    assert_eq!(report.frames["gate"], 1);
    assert_eq!(report.frames["text pool"], 512);
    // 16 of the kernel, a module's and the gate.
    assert_eq!(report.exec_pages, 18);
    assert_eq!(report.code_bytes, 18 * 4096);
    assert!(report.geometries > 1000, "{report}");
}

#[test]
fn the_root_of_a_process_that_does_not_run_is_found() {
    let mut machine = TestMachine::clean();
    machine.cpus[1].ttbr0 = TestMachine::empty_root();
    let report = of(&machine.snapshot());
    assert!(report.violations.is_empty(), "{report}");
    // The reserved one counts as well.
    assert_eq!(report.user_roots, 3);
    machine.change(Tree::User(1), 0x40_0000, 3, |_| {
        PHYSICAL | 0x1_0000 | USER_DATA | 3
    });
    let report = of(&machine.snapshot());
    assert!(report.by_invariant().contains_key("I4"), "{report}");
}

#[test]
fn a_cpu_on_its_way_in_is_the_inner_domains_business() {
    let mut machine = TestMachine::clean();
    let cpu = &mut machine.cpus[1];
    (cpu.pc, cpu.sctlr, cpu.tcr, cpu.ttbr0, cpu.ttbr1) = (STAY + 0x900, 0, 0, 0, 0);
    let report = of(&machine.snapshot());
    assert!(report.violations.is_empty(), "{report}");
    assert_eq!(report.cpus, 1);
    // An address of a process that happens to be the same is something else.
    machine.cpus[1].sctlr = 1;
    let report = of(&machine.snapshot());
    assert!(report.by_invariant().contains_key("I6"), "{report}");
    machine.cpus[1].sctlr = 0;
    // Anywhere else it would be another frame.
    machine.cpus[1].pc = FRAME;
    let report = of(&machine.snapshot());
    assert!(report.by_invariant().contains_key("I6"), "{report}");
}

#[test]
fn a_cpu_inside_may_have_the_inner_view() {
    let mut machine = TestMachine::clean();
    machine.cpus[1].tcr = INNER;
    machine.cpus[1].pc = GATE - 0x100;
    let report = of(&machine.snapshot());
    assert!(report.violations.is_empty(), "{report}");
    assert_eq!(report.cpus_inside, 1);
}

#[test]
fn a_clone_has_the_code_of_what_it_was_made_from() {
    let mut machine = TestMachine::clean();
    machine.clone_of_compartment();
    let report = of(&machine.snapshot());
    assert!(report.violations.is_empty(), "{report}");
}

#[test]
fn a_cpu_in_a_compartment_has_rules_of_its_own() {
    let mut machine = TestMachine::clean();
    machine.enter_compartment(1);
    let report = of(&machine.snapshot());
    assert!(report.violations.is_empty(), "{report}");
    assert_eq!((report.cpus, report.cpus_in_compartments), (2, 1));
    // On the way out, behind the write of TCR_EL1.
    machine.cpus[1].tcr = INNER;
    machine.cpus[1].pc = GATE - 0x100;
    machine.cpus[1].pstate = 5;
    let report = of(&machine.snapshot());
    assert!(report.violations.is_empty(), "{report}");
    // The process's root is back, Linux's vectors and keys are not.
    machine.cpus[1].pc = TEXT_WINDOW + 0x420;
    machine.cpus[1].ttbr0 = machine.cpus[0].ttbr0;
    let report = of(&machine.snapshot());
    assert!(report.violations.is_empty(), "{report}");
    assert_eq!((report.cpus, report.cpus_in_compartments), (2, 1));
    // Nowhere else.
    machine.cpus[1].pc = GATE - 0x100;
    let report = of(&machine.snapshot());
    let wrong = |it: &Violation| it.invariant == "I6" && it.text.starts_with("VBAR_EL1");
    assert!(report.violations.iter().any(wrong), "{report}");
}

/// A block that joined a pool of tables later.
const GROWN: u64 = 0x42c0_0000;

fn grow(machine: &mut TestMachine) {
    machine.change(Tree::Kernel, UPPER + GROWN - RAM, 2, |raw| raw | READ_ONLY);
    machine.set_block(GROWN, POOL_FREE, 2);
}

#[test]
fn a_pool_that_grew_is_one_that_the_inner_domain_has_written_down() {
    let mut machine = TestMachine::clean();
    grow(&mut machine);
    machine.set_kind(GROWN, KERNEL_ROOT + 3);
    let entry = machine.entry(Tree::Kernel, VMALLOC + (64 << 20), 2);
    machine.write(entry, GROWN | 3);
    let report = of(&machine.snapshot());
    assert!(report.violations.is_empty(), "{report}");
    // A table in a block that is read-only and no pool.
    machine.set_block(GROWN, 0, 0);
    let report = of(&machine.snapshot());
    assert!(report.by_invariant().contains_key("I1"), "{report}");
    // A table in a block that Linux can write.
    machine.set_block(GROWN, POOL_FREE, 2);
    machine.set_kind(GROWN, KERNEL_ROOT + 3);
    machine.change(Tree::Kernel, UPPER + GROWN - RAM, 2, |raw| raw & !READ_ONLY);
    let report = of(&machine.snapshot());
    assert!(report.by_invariant().contains_key("I2"), "{report}");
}

#[test]
fn what_linux_has_in_memory_changes_nothing() {
    let mut machine = TestMachine::clean();
    let before = machine.snapshot().facts;
    // Everything that Linux has in memory of its own is a lie: a second description of an inner
    // domain elsewhere, with the right root, and a table of frames that makes all memory a pool.
    let lie = 0x4240_0000;
    for offset in (0..4096).step_by(8) {
        let word = machine.word(INFO + offset);
        machine.write(lie + offset, word);
    }
    let frames = lie + offset_of!(BootInfo, frame_table) as u64;
    machine.write(frames, lie + 0x1000);
    machine.write(frames + 8, lie + 0x9000);
    for at in (lie + 0x1000..lie + 0x9000).step_by(8) {
        machine.write(at, 0x0102_0102_0102_0102);
    }
    let after = machine.snapshot().facts;
    assert_eq!(before.inner, after.inner);
    assert_eq!(before.table_pools, after.table_pools);
    assert_eq!(before.text_pools, after.text_pools);
    let report = of(&machine.snapshot());
    assert!(report.violations.is_empty(), "{report}");
}

#[test]
fn an_inner_domain_that_cannot_be_found_is_an_error() {
    let mut machine = TestMachine::clean();
    machine.write(INFO, 0);
    assert!(machine.fixed.facts(&machine.memory, LOADED).is_err());
    let machine = TestMachine::clean();
    assert!(
        machine
            .fixed
            .facts(&machine.memory, LOADED + 0x20_0000)
            .is_err()
    );
}

#[test]
fn a_cpu_that_is_off_is_as_a_reset_leaves_it() {
    let mut machine = TestMachine::clean();
    machine.cpus[1] = off(1);
    let report = of(&machine.snapshot());
    assert!(report.violations.is_empty(), "{report}");
    assert_eq!(report.cpus, 1);
}

#[test]
fn a_kernel_whose_processes_sign_pointers_is_clean() {
    let mut machine = TestMachine::clean();
    for cpu in &mut machine.cpus {
        cpu.sctlr |= injected::KEYS;
    }
    let report = of(&machine.snapshot());
    assert!(report.violations.is_empty(), "{report}");
}

#[test]
fn a_machine_whose_el2_is_closed_is_clean() {
    let mut machine = TestMachine::clean();
    machine.start_at_el2();
    let report = of(&machine.snapshot());
    assert!(report.violations.is_empty(), "{report}");
}

#[test]
fn the_gate_of_mode_tlbi_lists_every_inner_mapping() {
    let mut machine = TestMachine::clean();
    machine.fill_list();
    let report = of(&machine.snapshot());
    assert!(report.violations.is_empty(), "{report}");
    machine.write(GATE_FRAME + GATE_TLBI_LIST as u64, 0);
    let report = of(&machine.snapshot());
    assert!(report.by_invariant().contains_key("I16"), "{report}");
}

#[test]
fn a_split_of_the_linear_map_is_noticed_at_the_next_audit() {
    let mut machine = TestMachine::clean();
    let va = UPPER + FRAME - RAM;
    let (_, before) = since(&machine.snapshot(), None);
    let block = machine.entry(Tree::Kernel, va, 2);
    machine.write(block, 0);
    for page in (0..0x20_0000).step_by(0x1000) {
        machine.map(Tree::Kernel, va + page, FRAME + page, 3, KERNEL_DATA);
    }
    let (report, after) = since(&machine.snapshot(), Some(&before));
    assert!(report.by_invariant().contains_key("I10"), "{report}");
    let (report, _) = since(&machine.snapshot(), Some(&after));
    assert!(report.violations.is_empty(), "{report}");
}
