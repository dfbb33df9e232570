// SPDX-License-Identifier: MIT OR Apache-2.0

mod bus;
mod model;

use std::vec::Vec;

use proptest::prelude::*;

use super::smmu::{self, SmmuError, Structures, offset};
use super::streams;
use super::translation::{self, TranslationError};
use super::window::{Access, DeviceWindow, MAX_PIECES, Piece, TooManyPieces};
use crate::range::Range;
use crate::translation::address::PhysicalAddress;
use crate::translation::inner_tables::TableMemory;
use model::{Fault, Memory, Smmu};

const PAGE: u64 = 4096;
/// Where the tables of the tests are.
const TABLES: u64 = 0x7000_0000;
/// Where interrupts are raised on QEMU's virt.
const DOORBELL: u64 = 0x802_0000;

fn range(start: u64, end: u64) -> Range {
    Range::new(start, end).expect("not empty")
}

/// Every structure of the SMMU, in a memory of its own, and the SMMU itself.
fn machine(window: &DeviceWindow, doorbell: Option<u64>) -> Smmu {
    let mut memory = Memory::new(TABLES);
    let mut page = || memory.allocate().expect("room");
    let (streams, second) = (page(), (page(), page()).1);
    let (context, root, commands) = (page(), page(), page());
    for index in 0..streams::FIRST_ENTRIES as u64 {
        let at = streams.as_u64() + 8 * index;
        memory.store(at, streams::first_entry(second));
    }
    for index in 0..streams::SECOND_ENTRIES as u64 {
        for (word, value) in streams::stream_entry(context).into_iter().enumerate() {
            let at = second.as_u64() + 64 * index + 8 * word as u64;
            memory.store(at, value);
        }
    }
    for (word, value) in streams::context(root).into_iter().enumerate() {
        memory.store(context.as_u64() + 8 * word as u64, value);
    }
    translation::build(&mut memory, root, window, doorbell).expect("tables");
    let mut smmu = Smmu::new(memory);
    let structures = Structures { streams, commands };
    smmu::start(&mut smmu, &structures).expect("an SMMU that answers");
    smmu
}

#[test]
fn a_machine_with_1_gib_has_the_tables_that_the_plan_says() {
    let banks = [range(0x4000_0000, 0x8000_0000)];
    let hidden = [
        range(0x7c00_0000, 0x8000_0000),
        range(0x4080_0000, 0x4081_0000),
    ];
    let kernel = range(0x4020_0000, 0x40f5_0000);
    let window = DeviceWindow::new(&banks, &hidden, Some(kernel)).expect("few pieces");
    let smmu = machine(&window, Some(DOORBELL));
    for stream in [0, 1, 8, 255, 256, 0xffff] {
        assert_eq!(smmu.translate(stream, 0x4000_0000), Ok((0x4000_0000, true)));
        assert_eq!(smmu.translate(stream, 0x7bff_fff8), Ok((0x7bff_fff8, true)));
        assert_eq!(
            smmu.translate(stream, 0x4020_0000),
            Ok((0x4020_0000, false))
        );
        assert_eq!(
            smmu.translate(stream, 0x40f4_fff8),
            Ok((0x40f4_fff8, false))
        );
        assert_eq!(smmu.translate(stream, 0x40f5_0000), Ok((0x40f5_0000, true)));
        assert_eq!(smmu.translate(stream, 0x4080_0000), Err(Fault::NotMapped));
        assert_eq!(smmu.translate(stream, 0x7c00_0000), Err(Fault::NotMapped));
        assert_eq!(smmu.translate(stream, 0x3fff_f000), Err(Fault::NotMapped));
        assert_eq!(
            smmu.translate(stream, DOORBELL + 0x40),
            Ok((DOORBELL + 0x40, true))
        );
        // The distributor, the SMMU itself, and what is behind the last address.
        for address in [0x800_0000, 0x905_0020, 1 << 39, u64::MAX - 7] {
            assert!(smmu.translate(stream, address).is_err(), "{address:#x}");
        }
    }
    assert!(smmu.memory().pages() <= 5 + translation::most_tables(window.end()));
}

#[test]
fn without_a_doorbell_nothing_but_memory_is_there() {
    let banks = [range(0x4000_0000, 0x8000_0000)];
    let window = DeviceWindow::new(&banks, &[], None).expect("few pieces");
    let smmu = machine(&window, None);
    assert_eq!(smmu.translate(8, DOORBELL), Err(Fault::NotMapped));
    assert_eq!(smmu.translate(8, 0x5234_5678), Ok((0x5234_5678, true)));
}

#[test]
fn eight_banks_with_twelve_holes_fit() {
    let banks: Vec<_> = (1..=8)
        .map(|it| range(it << 30, (it << 30) + 0x3000_0000))
        .collect();
    let hole = |it: u64| {
        range(
            ((1 + it % 8) << 30) + 0x100_0000 * (it + 1),
            ((1 + it % 8) << 30) + 0x100_0000 * (it + 1) + PAGE,
        )
    };
    let holes: Vec<_> = (0..12).map(hole).collect();
    let kernel = range(0x4020_0000, 0x4120_0000);
    let window = DeviceWindow::new(&banks, &holes, Some(kernel)).expect("room");
    let smmu = machine(&window, Some(DOORBELL));
    for hole in &holes {
        assert!(smmu.translate(8, hole.start()).is_err());
        assert!(smmu.translate(8, hole.start() - PAGE).is_ok());
        assert!(smmu.translate(8, hole.end()).is_ok());
    }
    assert!(smmu.memory().pages() <= 5 + translation::most_tables(window.end()));
}

#[test]
fn too_many_pieces_are_an_error() {
    let banks = [range(0x4000_0000, 0x8000_0000)];
    let hole = |it: u64| {
        range(
            0x4000_0000 + 2 * it * PAGE,
            0x4000_0000 + (2 * it + 1) * PAGE,
        )
    };
    let holes: Vec<_> = (0..MAX_PIECES as u64 + 1).map(hole).collect();
    assert!(DeviceWindow::new(&banks, &holes[1..], None).is_err());
    assert!(DeviceWindow::new(&banks, &holes[2..], None).is_ok());
    assert_eq!(DeviceWindow::new(&banks, &holes, None), Err(TooManyPieces));
}

#[test]
fn memory_that_the_tables_cannot_show_is_an_error() {
    let high = [range(translation::END - PAGE, translation::END + PAGE)];
    let window = DeviceWindow::new(&high, &[], None).expect("room");
    let mut memory = Memory::new(TABLES);
    let root = memory.allocate().expect("room");
    let error = translation::build(&mut memory, root, &window, None);
    assert_eq!(
        error,
        Err(TranslationError::TooHigh(translation::END + PAGE))
    );
    let ram = [range(0x4000_0000, 0x8000_0000)];
    let window = DeviceWindow::new(&ram, &[], None).expect("room");
    let error = translation::build(&mut memory, root, &window, Some(0x4000_0000));
    assert_eq!(error, Err(TranslationError::Twice(0x4000_0000)));
    let mut full = Memory::with_pages(TABLES, 1);
    let root = full.allocate().expect("room");
    let pages = [range(0x4000_0000, 0x4000_1000)];
    let window = DeviceWindow::new(&pages, &[], None).expect("room");
    let error = translation::build(&mut full, root, &window, None);
    assert_eq!(error, Err(TranslationError::OutOfTables));
}

#[test]
fn an_smmu_that_lacks_something_is_named() {
    // QEMU 7.2 and 10.0.2.
    for idr0 in [0x0d40_101a, 0x0d44_101b] {
        let mut smmu = Smmu::new(Memory::new(TABLES));
        smmu.set(offset::IDR0, idr0);
        assert_eq!(smmu::check(&smmu), Ok(()));
    }
    let without = |register: u64, clear: u32, set: u32| {
        let mut smmu = Smmu::new(Memory::new(TABLES));
        let value = smmu::Registers::read(&smmu, register);
        smmu.set(register, value & !clear | set);
        match smmu::check(&smmu) {
            Err(SmmuError::Lacks(what)) => what,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(without(offset::IDR0, 2, 0), "no stage 1");
    assert_eq!(
        without(offset::IDR0, 0b1100, 0b0100),
        "no tables of AArch64"
    );
    assert_eq!(
        without(offset::IDR0, 3 << 24, 2 << 24),
        "stalls that cannot be forbidden"
    );
    assert_eq!(
        without(offset::IDR0, 3 << 27, 0),
        "no stream table of two levels"
    );
    assert_eq!(
        without(offset::IDR1, 0, 1 << 30),
        "tables or queues at fixed places"
    );
    assert_eq!(without(offset::IDR1, 0x3f, 8), "too few bits of StreamIDs");
    assert_eq!(without(offset::IDR5, 1 << 4, 0), "no granule of 4 KiB");
    assert_eq!(without(offset::IDR5, 7, 1), "too few bits of addresses");
}

#[test]
fn an_smmu_that_does_not_answer_is_an_error() {
    let address = |it| PhysicalAddress::new(it).expect("an address");
    let structures = Structures {
        streams: address(0x5000_0000),
        commands: address(0x5000_4000),
    };
    let mut smmu = Smmu::new(Memory::new(TABLES));
    smmu.is_deaf = true;
    let error = smmu::start(&mut smmu, &structures);
    assert!(
        matches!(
            error,
            Err(SmmuError::NoAnswer {
                offset: offset::CR0ACK,
                ..
            })
        ),
        "{error:?}"
    );
}

#[test]
fn what_firmware_left_is_replaced() {
    let banks = [range(0x4000_0000, 0x8000_0000)];
    let window = DeviceWindow::new(&banks, &[range(0x5000_0000, 0x6000_0000)], None).expect("room");
    // `machine` starts from an SMMU that is on and has a queue that was used.
    let smmu = machine(&window, None);
    assert_eq!(smmu.translate(8, 0x5000_0000), Err(Fault::NotMapped));
    assert!(smmu.commands_done() >= 3);
    assert!(smmu.was_off);
}

fn ranges(most: usize) -> impl Strategy<Value = Vec<Range>> {
    let one = (0..64 * 8_u64, 1..16 * 8_u64).prop_map(|(start, size)| {
        range(
            0x4000_0000 + start * PAGE / 8,
            0x4000_0000 + (start + size) * PAGE / 8,
        )
    });
    proptest::collection::vec(one, 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 4 } else { 512 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn each_page_of_ram_is_in_the_window_exactly_as_a_list_of_pages_says(
        first in ranges(2),
        hidden in ranges(5),
        kernel in ranges(2),
    ) {
        // Banks do not overlap: the second is elsewhere.
        let mut banks = first;
        banks.push(range(0x8000_0000, 0x8000_0000 + 40 * PAGE));
        let kernel = kernel.first().copied();
        let window = DeviceWindow::new(&banks, &hidden, kernel).expect("room");
        let smmu = machine(&window, None);
        let pages = (0..80).map(|it| 0x4000_0000 + it * PAGE);
        for page in pages.chain((0..48).map(|it| 0x8000_0000 + it * PAGE)) {
            let whole = range(page, page + PAGE);
            let is_ram = banks.iter().any(|it| it.encloses(whole));
            let is_hidden = hidden.iter().any(|it| it.overlaps(whole));
            let is_kernel = kernel.is_some_and(|it| it.overlaps(whole));
            let expected = match (is_ram && !is_hidden, is_kernel) {
                (false, _) => Err(Fault::NotMapped),
                (true, is_kernel) => Ok((page, !is_kernel)),
            };
            prop_assert_eq!(smmu.translate(8, page), expected, "{:#x}", page);
        }
    }

    #[test]
    fn pieces_do_not_overlap_and_leaves_are_as_large_as_fits(
        start in 0..0x800_u64,
        size in 1..0x4_0000_u64,
    ) {
        let bank = range(0x4000_0000 + start * PAGE, 0x4000_0000 + (start + size) * PAGE);
        let window = DeviceWindow::new(&[bank], &[], None).expect("room");
        let whole = Piece { range: bank, access: Access::ReadWrite };
        prop_assert_eq!(window.pieces().collect::<Vec<_>>(), [whole]);
        let smmu = machine(&window, None);
        for address in [bank.start(), bank.end() - 8] {
            prop_assert_eq!(smmu.translate(0, address), Ok((address, true)));
        }
        for address in [bank.start() - 8, bank.end()] {
            prop_assert_eq!(smmu.translate(0, address), Err(Fault::NotMapped));
        }
        // Two tables at each end, the root, and the five pages of `machine` before it.
        prop_assert!(smmu.memory().pages() <= 5 + 1 + 2 + 2);
    }
}
