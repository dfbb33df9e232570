// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much of a list one call carries out.

use donjon_core::checks::Configured;
use donjon_core::pools::Pools;
use donjon_models::space::memory::SmallMachine;
use donjon_models::space::small::{
    self, BLOCK, DATA, IMAGE_L2, IMAGE_L3, KERNEL_PAGE, ORDINARY, OwnedStorage,
};

/// Writes entries until the budget of a list is exhausted; how many there were.
fn items(
    hw: &mut SmallMachine,
    pools: &mut Pools<'_, Configured>,
    item: impl Fn(u64) -> (u64, u64),
) -> u64 {
    pools.tables.begin_list();
    for number in 0..1000 {
        if pools.tables.is_budget_exhausted() {
            return number;
        }
        let (entry, value) = item(number);
        pools.tables.write(hw, entry, value).expect("allowed");
    }
    panic!("no end of the list");
}

#[test]
fn a_list_of_pages_and_one_of_blocks_end() {
    let mut storage = OwnedStorage::default();
    let (mut hw, mut pools) = small::build::<Configured>(&mut storage);
    let page = |number| (IMAGE_L3 + (8 + number) * 8, DATA | KERNEL_PAGE);
    assert_eq!(items(&mut hw, &mut pools, page), 32);
    // A block is as many frames to look at.
    let block = |number| {
        let value = (ORDINARY + BLOCK) | KERNEL_PAGE & !0b10;
        (IMAGE_L2 + (8 + number) * 8, value)
    };
    assert_eq!(items(&mut hw, &mut pools, block), 2);
    assert_eq!(items(&mut hw, &mut pools, page), 32);
}
