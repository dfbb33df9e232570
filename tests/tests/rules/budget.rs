// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much of a list one call carries out, and which registers the inner domain writes.

use donjon_core::rules::{Configured, Rules};
use donjon_models::space::memory::{PAGE, SmallMachine};
use donjon_models::space::small::{
    self, BLOCK, DATA, IMAGE_L2, IMAGE_L3, KERNEL_PAGE, MAPPED_REGISTERS, ORDINARY, OwnedStorage,
    REGISTERS,
};

/// Writes entries until the budget of a list is exhausted; how many there were.
fn items(
    hw: &mut SmallMachine,
    rules: &mut Rules<'_, Configured>,
    item: impl Fn(u64) -> (u64, u64),
) -> u64 {
    rules.begin_list();
    for number in 0..1000 {
        if rules.is_budget_exhausted() {
            return number;
        }
        let (entry, value) = item(number);
        rules.write(hw, entry, value).expect("allowed");
    }
    panic!("no end of the list");
}

#[test]
fn a_list_of_pages_and_one_of_blocks_end() {
    let mut storage = OwnedStorage::default();
    let (mut hw, mut rules) = small::build::<Configured>(&mut storage);
    let page = |number| (IMAGE_L3 + (8 + number) * 8, DATA | KERNEL_PAGE);
    assert_eq!(items(&mut hw, &mut rules, page), 32);
    // A block is as many frames to look at.
    let block = |number| {
        let value = (ORDINARY + BLOCK) | KERNEL_PAGE & !0b10;
        (IMAGE_L2 + (8 + number) * 8, value)
    };
    assert_eq!(items(&mut hw, &mut rules, block), 2);
    assert_eq!(items(&mut hw, &mut rules, page), 32);
}

#[test]
fn listed_registers_alone_are_written() {
    let mut storage = OwnedStorage::default();
    let (_, rules) = small::build::<Configured>(&mut storage);
    let written = |address| rules.writable_register(address);
    assert_eq!(written(REGISTERS), Some(MAPPED_REGISTERS));
    assert_eq!(written(REGISTERS + 0x14), Some(MAPPED_REGISTERS + 0x14));
    for other in [
        0,
        4,
        REGISTERS - 4,
        REGISTERS + 2,
        REGISTERS + 0x18,
        REGISTERS + PAGE,
    ] {
        assert_eq!(written(other), None, "{other:#x}");
    }
}
