// SPDX-License-Identifier: MIT OR Apache-2.0
//! The auditor against a machine without a fault, and with one planted in it.

#![allow(
    clippy::single_range_in_vec_init,
    reason = "lists of ranges, most of them with one"
)]

mod machine;
mod planted;

use donjon_abi::layout::GATE;
use donjon_abi::tcr::INNER;
use machine::{FRAME, KERNEL_DATA, Machine, PHYSICAL, RAM, STAY, Tree, USER_DATA};

use super::walk::UPPER;
use super::{of, since};

#[test]
fn a_machine_as_it_must_be_is_clean() {
    let report = of(&Machine::clean().snapshot());
    assert!(report.violations.is_empty(), "{report}");
    assert_eq!(report.cpus, 2);
    assert_eq!(report.user_roots, 2);
    assert_eq!(report.frames["inner"], 16);
    assert_eq!(report.frames["gate"], 1);
    assert_eq!(report.frames["text pool"], 512);
    // 16 of the kernel, a module's and the gate.
    assert_eq!(report.exec_pages, 18);
    assert_eq!(report.code_bytes, 18 * 4096);
    assert!(report.geometries > 1000, "{report}");
}

#[test]
fn the_root_of_a_process_that_does_not_run_is_found() {
    let mut machine = Machine::clean();
    machine.cpus[1].ttbr0 = machine
        .facts
        .linux
        .to_physical(machine.facts.linux.reserved_root);
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
    let mut machine = Machine::clean();
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
    // Anywhere else it would be somebody else's.
    machine.cpus[1].pc = FRAME;
    let report = of(&machine.snapshot());
    assert!(report.by_invariant().contains_key("I6"), "{report}");
}

#[test]
fn a_cpu_inside_may_have_the_inner_view() {
    let mut machine = Machine::clean();
    machine.cpus[1].tcr = INNER;
    machine.cpus[1].pc = GATE - 0x100;
    let report = of(&machine.snapshot());
    assert!(report.violations.is_empty(), "{report}");
    assert_eq!(report.cpus_inside, 1);
}

#[test]
fn a_pool_that_grew_is_recognized_by_its_read_only_block() {
    let mut machine = Machine::clean();
    let grown = 0x42c0_0000;
    let root = machine.roots[0];
    machine.change(Tree::Kernel, UPPER + grown - RAM, 2, |raw| raw | 1 << 7);
    let entry = machine.entry(Tree::User(0), 0x80_0000_0000, 0);
    assert_eq!(entry & !0xfff, root);
    machine.write(entry, grown | 3);
    let report = of(&machine.snapshot());
    assert!(report.violations.is_empty(), "{report}");
    // The same table in a block that Linux can write.
    machine.change(Tree::Kernel, UPPER + grown - RAM, 2, |raw| raw & !(1 << 7));
    let report = of(&machine.snapshot());
    let named = report.by_invariant();
    assert!(
        named.contains_key("I1") && named.contains_key("I2"),
        "{report}"
    );
}

#[test]
fn a_split_of_the_linear_map_is_noticed_at_the_next_audit() {
    let mut machine = Machine::clean();
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
