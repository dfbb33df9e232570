// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checks of what devices reach, on an SMMU as it must be and with one violation each.

use super::machine::{FRAME, KERNEL_DATA, POOL, PRIVATE, READ_ONLY, REGION, TestMachine, UART};
use super::machine::{MEBIBYTES_2, PHYSICAL, TEXT, USER};
use crate::descriptor::PAGE;
use crate::of;
use crate::snapshot::{Smmu, Usb};

/// Pages of inner memory that nothing else of the machine has.
const STREAMS: u64 = REGION + 0xa000;
const SECOND: u64 = REGION + 0xc000;
const CONTEXT: u64 = REGION + 0xd000;
const ROOT: u64 = REGION + 0xe000;
const BLOCKS: u64 = REGION + 0xf000;
const LOW: u64 = REGION + 0x3_8000;
const PAGES: u64 = REGION + 0x3_9000;
/// What devices may write, and a page by which they raise interrupts.
const LEAF: u64 = KERNEL_DATA | USER;

fn store(machine: &mut TestMachine, address: u64, value: u64) {
    let page = machine
        .memory
        .0
        .entry(address & !(PAGE - 1))
        .or_insert([0; 512]);
    page[(address % PAGE / 8) as usize] = value;
}

/// A machine whose devices write the block of [`FRAME`].
fn machine() -> TestMachine {
    let mut machine = TestMachine::clean();
    for index in 0..1024 {
        store(&mut machine, STREAMS + 8 * index, SECOND | 7);
    }
    for index in 0..64 {
        store(&mut machine, SECOND + 64 * index, CONTEXT | 0b101 << 1 | 1);
        store(&mut machine, SECOND + 64 * index + 8, 1 << 44);
    }
    let context = 25 | 1 << 30 | 1 << 31 | 1 << 41;
    store(&mut machine, CONTEXT, context);
    store(&mut machine, CONTEXT + 8, ROOT);
    store(&mut machine, ROOT + 8, BLOCKS | 3);
    block(&mut machine, FRAME, FRAME | LEAF | 1);
    machine.smmu = Some(Smmu {
        control: 0x11,
        acknowledged: 0x11,
        messages: 0,
        streams: STREAMS | 1 << 62,
        streams_form: 0x1_0190,
        doorbell: Some(UART),
        reserve: POOL..POOL + 8 * MEBIBYTES_2,
    });
    machine
}

/// Sets what devices see at an address of the machine's RAM.
fn block(machine: &mut TestMachine, address: u64, value: u64) {
    let index = address >> 21 & 511;
    store(machine, BLOCKS + 8 * index, value);
}

/// The invariants that the auditor names, each once.
fn named(machine: &TestMachine) -> Vec<&'static str> {
    let report = of(&machine.snapshot());
    report.by_invariant().into_keys().collect()
}

#[test]
fn an_smmu_as_it_must_be_is_clean() {
    let report = of(&machine().snapshot());
    assert!(report.violations.is_empty(), "{report}");
}

#[test]
fn an_smmu_that_lets_devices_around_is_named() {
    let with = |change: &dyn Fn(&mut TestMachine)| {
        let mut machine = machine();
        change(&mut machine);
        named(&machine)
    };
    let registers =
        |change: fn(&mut Smmu)| with(&|machine| machine.smmu.iter_mut().for_each(change));
    assert_eq!(registers(|it| it.control = 0x10), ["I23"]);
    assert_eq!(registers(|it| it.acknowledged = 0), ["I23"]);
    assert_eq!(registers(|it| it.control = 0x19), ["I23"]);
    assert_eq!(registers(|it| it.messages = 1), ["I23"]);
    assert_eq!(registers(|it| it.streams_form = 0x1_0188), ["I23"]);
    assert_eq!(registers(|it| it.streams = FRAME), ["I23"]);
    let last = SECOND + 64 * 63;
    // Stage 1 bypassed, no valid entry, and another context.
    assert_eq!(with(&|it| store(it, last, 0b100 << 1 | 1)), ["I23"]);
    assert_eq!(with(&|it| store(it, last, 0)), ["I23"]);
    let second = CONTEXT + 64;
    assert_eq!(
        with(&|it| store(it, last, second | 0b101 << 1 | 1)),
        ["I23"]
    );
    assert_eq!(
        with(&|it| store(it, STREAMS + 8 * 1023, SECOND | 6)),
        ["I23"]
    );
    // Tables that Linux writes.
    assert_eq!(with(&|it| store(it, CONTEXT + 8, FRAME)), ["I23"]);
    assert_eq!(with(&|it| store(it, ROOT + 8, FRAME | 3)), ["I23"]);
}

#[test]
fn what_devices_must_not_reach_is_named() {
    let with = |address: u64, value: u64| {
        let mut machine = machine();
        block(&mut machine, address, value);
        named(&machine)
    };
    for address in [POOL, PRIVATE, REGION & !(MEBIBYTES_2 - 1)] {
        assert_eq!(with(address, address | LEAF | 1), ["I24"], "{address:#x}");
        let read = address | LEAF | READ_ONLY | 1;
        assert_eq!(with(address, read), ["I24"], "{address:#x}");
    }
    let text = (PHYSICAL + TEXT) & !(MEBIBYTES_2 - 1);
    assert_eq!(with(text, text | LEAF | 1), ["I24"]);
    // Ordinary memory, but of the reserve.
    let spare = POOL + 4 * MEBIBYTES_2;
    assert_eq!(with(spare, spare | LEAF | 1), ["I24"]);
    // Another address than the physical one, and a leaf that is too wide.
    assert_eq!(with(FRAME, (FRAME + MEBIBYTES_2) | LEAF | 1), ["I24"]);
    let mut wide = machine();
    store(&mut wide, ROOT + 8, 0x4000_0000 | LEAF | 1);
    assert_eq!(named(&wide), ["I24"]);
}

#[test]
fn of_registers_devices_reach_the_page_of_interrupts_alone() {
    let mut machine = machine();
    store(&mut machine, ROOT, LOW | 3);
    store(&mut machine, LOW + 8 * (UART >> 21), PAGES | 3);
    let at = |address: u64| PAGES + 8 * (address >> 12 & 511);
    store(&mut machine, at(UART), UART | LEAF | 3);
    assert_eq!(named(&machine), [""; 0]);
    let other = UART + PAGE;
    store(&mut machine, at(other), other | LEAF | 3);
    assert_eq!(named(&machine), ["I24"]);
}

#[test]
fn what_channels_of_usb_must_not_reach_is_named() {
    const ON: u32 = 1 << 31;
    const IN: u32 = 1 << 15;
    let with = |host: u32, control: u32, address: u64| {
        let mut machine = TestMachine::clean();
        machine.usb = Some(Usb {
            bus: 0x1000_0000,
            host,
            channels: vec![
                [0; 3],
                [control, 4096, 0x1000_0000_u64.wrapping_add(address) as u32],
            ],
            reserve: POOL..POOL + 8 * MEBIBYTES_2,
        });
        named(&machine)
    };
    for control in [0, ON, ON | IN] {
        assert!(with(0, control, FRAME).is_empty());
    }
    assert_eq!(with(1 << 23, 0, FRAME), ["I24"]);
    let text = (PHYSICAL + TEXT) & !(PAGE - 1);
    assert!(with(0, ON, text).is_empty());
    assert_eq!(with(0, ON | IN, text), ["I24"]);
    let spare = POOL + 4 * MEBIBYTES_2;
    for address in [POOL, PRIVATE, REGION, spare, spare - 1] {
        assert_eq!(with(0, ON | IN, address), ["I24"], "{address:#x}");
        assert_eq!(with(0, ON, address), ["I24"], "{address:#x}");
        // It is off, and what was on its way may be written there.
        assert_eq!(with(0, IN, address), ["I24"], "{address:#x}");
        assert!(with(0, 0, address).is_empty());
    }
    // Below memory, where the bus has other things.
    assert_eq!(with(0, ON | IN, 0_u64.wrapping_sub(8)), ["I24"]);
}
