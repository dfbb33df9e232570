// SPDX-License-Identifier: MIT OR Apache-2.0
//! Gate and vectors under every forged table geometry, over the tables of whole machines.
//!
//! A build without one of the layout rules must show an escape here, or the rule is not tested.

#![allow(clippy::unwrap_used)]

use donjon_abi::layout;
use donjon_core::code::vectors::{VECTORS_SIZE, VECTORS_START};
use donjon_core::range::Range;
use donjon_models::geometry::forged::{Finding, Granule, WalkResult};
use donjon_models::geometry::{Report, check};
use donjon_models::machine::{BuiltMachine, IMAGE, Plan, VECTORS};

fn gib(start: u64, end: u64) -> Range {
    Range::new(start << 30, end << 30).unwrap()
}

/// Memory as on QEMU virt and on the Raspberry Pi, small and as large as it may be.
fn memories() -> [Vec<Range>; 4] {
    [
        vec![gib(1, 2)],
        vec![gib(0, 1)],
        vec![gib(1, 2), gib(4, 512)],
        vec![gib(0, 512)],
    ]
}

/// Every machine of [`memories`], with the linear map from the first bank or from 0.
fn machines(change: impl Fn(&mut Plan)) -> Vec<BuiltMachine> {
    let mut machines = Vec::new();
    for memory in memories() {
        for linear_start in [memory[0].start(), 0] {
            let mut plan = Plan::shipped(&memory);
            plan.linear_start = linear_start;
            change(&mut plan);
            machines.push(BuiltMachine::build(plan));
        }
    }
    machines
}

/// First and last instruction of each thing that must be what is fetched: the gate page and the
/// current-EL vectors.
fn addresses(machine: &BuiltMachine) -> [u64; 5] {
    let gate = machine.gate();
    [gate, gate + 0x80, gate + 0xffc, VECTORS, VECTORS + 0x780]
}

fn report(machine: &BuiltMachine) -> Report {
    let reader = |address| machine.word(address);
    let (root, block) = (machine.root(), machine.block());
    check(&reader, root, block, &addresses(machine)).unwrap()
}

/// Root rounded down to its alignment, as the register descriptions say.
fn rounded(finding: &Finding) -> bool {
    finding.geometry.is_none_or(|it| it.corruption.is_none())
}

fn is(finding: &Finding, granule: Granule, size_offset: u8) -> bool {
    let geometry = finding.geometry;
    geometry.is_some_and(|it| it.granule == granule && it.size_offset == size_offset)
}

#[test]
fn gate_and_vectors_lead_to_themselves_or_nowhere() {
    for machine in machines(|_| {}) {
        let report = report(&machine);
        let escapes: Vec<_> = report.escapes().filter(|it| rounded(it.1)).collect();
        assert!(escapes.is_empty(), "{report}");
    }
}

#[test]
fn the_shipped_page_order_survives_a_corrupted_root_address() {
    for machine in machines(|_| {}) {
        let report = report(&machine);
        assert_eq!(report.escapes().count(), 0, "{report}");
    }
}

#[test]
fn both_views_lead_to_gate_and_vectors() {
    for machine in machines(|_| {}) {
        for probe in report(&machine).probes {
            for size in [16, 17] {
                let mut small = probe.findings.iter().filter(|it| {
                    is(it, Granule::Kib4, size) && !it.geometry.unwrap().large_addresses
                });
                let itself = WalkResult::Itself {
                    address: probe.probe.expected,
                };
                assert!(small.all(|it| it.result == itself));
            }
        }
    }
}

#[test]
fn a_linear_map_table_outside_of_the_block_is_an_escape() {
    for machine in machines(|plan| plan.linear_page = None) {
        let report = report(&machine);
        let mut escapes = report.escapes().filter(|it| rounded(it.1));
        let attack = |finding: &Finding| is(finding, Granule::Kib64, 18) && finding.tg1 == 0b11;
        let found = escapes.any(|(address, finding)| address == VECTORS && attack(finding));
        assert!(
            found,
            "the attack that was carried out is missing: {report}"
        );
    }
}

#[test]
fn a_root_among_ordinary_pages_is_an_escape() {
    // The tables where they belong, but the attacker has what surrounds the root.
    for machine in machines(|_| {}) {
        let root = machine.root();
        let alone = Range::with_size(root, layout::PAGE_SIZE).unwrap();
        let reader = |address| machine.word(address);
        let report = check(&reader, root, alone, &addresses(&machine)).unwrap();
        assert!(report.escapes().any(|it| rounded(it.1)));
    }
}

#[test]
fn a_gate_with_address_bit_46_set_can_be_an_escape() {
    // 192 is 64 with that bit. It is the shipped block, so only the slot makes the difference.
    let shipped = machines(|plan| (plan.root_page, plan.linear_page) = (7, Some(8)));
    let moved = machines(|plan| {
        (plan.root_page, plan.linear_page) = (7, Some(8));
        plan.gate_slot = 192;
    });
    let escapes = |machine: &BuiltMachine| {
        let report = report(machine);
        let at_gate = |address| !(VECTORS..VECTORS + 0x800).contains(&address);
        let mut escapes = report.escapes();
        escapes.any(|(address, finding)| at_gate(address) && rounded(finding))
    };
    assert!(moved.iter().any(escapes));
    assert!(!shipped.iter().any(escapes));
}

#[test]
fn the_order_of_pages_in_the_block_matters() {
    // (root, linear): a root that a 16 KiB walk rounds down may come back with its low bits
    // (DDI 0487 K1.2.5); a linear map table on a multiple of 16 KiB is then read as one.
    let escapes = |root, linear| {
        let machines = machines(|plan| (plan.root_page, plan.linear_page) = (root, Some(linear)));
        let reports: Vec<_> = machines.iter().map(report).collect();
        let mut plain = 0;
        let mut corrupted = 0;
        for (_, finding) in reports.iter().flat_map(Report::escapes) {
            *(if rounded(finding) {
                &mut plain
            } else {
                &mut corrupted
            }) += 1;
        }
        (plain > 0, corrupted > 0)
    };
    assert_eq!(escapes(7, 8), (false, true));
    assert_eq!(escapes(7, 9), (false, false));
    assert_eq!(escapes(8, 13), (false, false));
    assert_eq!(escapes(8, 12), (true, false));
    assert_eq!(escapes(4, 5), (true, false));
}

#[test]
fn the_vectors_may_be_where_the_block_is_made_for_and_not_elsewhere() {
    let escapes = |image_va: u64| {
        let machines = machines(|plan| plan.image_va = image_va);
        machines.iter().any(|machine| {
            let vectors = image_va + (VECTORS - IMAGE);
            let reader = |address| machine.word(address);
            let (root, block) = (machine.root(), machine.block());
            let report = check(&reader, root, block, &[vectors, vectors + 0x780]).unwrap();
            report.escapes().next().is_some()
        })
    };
    let end = VECTORS_START + VECTORS_SIZE;
    for bit in 24..VECTORS_SIZE.ilog2() {
        assert!(!escapes(VECTORS_START + (1 << bit)), "bit {bit}");
        assert!(!escapes(end - (1 << bit)), "bit {bit} from the end");
    }
    assert!(!escapes(VECTORS_START));
    assert!(escapes(end), "the range is smaller than it needs to be");
}

/// Root slots whose entry, in either half, a forged geometry reads for the gate or the vectors.
const MUST_STAY_EMPTY: [usize; 13] = [1, 3, 7, 8, 15, 16, 31, 40, 48, 104, 112, 232, 240];

#[test]
fn the_slots_that_must_stay_empty_are_known() {
    let mut found = Vec::new();
    for slot in 1..256 {
        if [layout::GATE_SLOT, layout::INNER_SLOT, 128].contains(&slot) {
            continue;
        }
        let mut plan = Plan::shipped(&[gib(1, 2)]);
        plan.linux_slots = vec![slot];
        let machine = BuiltMachine::build(plan);
        if report(&machine).escapes().any(|it| rounded(it.1)) {
            found.push(slot);
        }
    }
    assert_eq!(found, MUST_STAY_EMPTY);
}

#[test]
fn an_address_that_is_not_mapped_is_named() {
    let machine = BuiltMachine::build(Plan::shipped(&[gib(1, 2)]));
    let reader = |address| machine.word(address);
    let unmapped = layout::GATE + layout::PAGE_SIZE;
    let error = check(&reader, machine.root(), machine.block(), &[unmapped]).unwrap_err();
    assert_eq!(error.address, unmapped);
}
