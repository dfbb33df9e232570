// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the oracle must let pass.

use donjon_tests::trace::{Action, Event};

use super::writer::{
    ASID, BLOCK, FREE, KERNEL, LINEAR, OTHER, PAGE, READ_ONLY, TABLE, UPPER, USER, USER_PAGE, WIDE,
    Writer,
};

#[test]
fn a_page_is_replaced_through_invalid() {
    Writer::new()
        .store(USER[3], 0)
        .flush(Action::InvalidateLeaf(0))
        .store(USER[3], 0x70_0000 | USER_PAGE)
        .is_good();
}

#[test]
fn a_store_of_one_cpu_is_invalidated_by_another() {
    Writer::new()
        .store(USER[3], 0)
        .act(Action::StoreBarrier)
        .on(1)
        .flush(Action::InvalidateLeaf(0))
        .on(0)
        .store(USER[3], 0x70_0000 | USER_PAGE)
        .is_good();
}

#[test]
fn permissions_change_in_place() {
    Writer::new()
        .store(USER[3], PAGE | READ_ONLY)
        .store(USER[3], PAGE)
        .is_good();
}

#[test]
fn what_was_cleared_comes_back_as_it_was() {
    Writer::new()
        .store(USER[3], 0)
        .store(USER[3], PAGE | READ_ONLY)
        .is_good();
}

#[test]
fn a_page_of_the_kernel_goes_at_both_addresses() {
    Writer::new()
        .store(KERNEL[3], 0)
        .act(Action::StoreBarrier)
        .act(Action::InvalidateLeaf(UPPER))
        .act(Action::InvalidateLeaf(WIDE))
        .act(Action::Barrier)
        .store(KERNEL[3], 0x70_0000 | USER_PAGE)
        .is_good();
}

#[test]
fn a_table_moves_behind_an_invalidation_of_its_asid() {
    let mut trace = Writer::new();
    trace
        .store(USER[2], 0)
        .flush(Action::InvalidateAsid(ASID))
        .store(USER[2] + 16, USER[3] | TABLE)
        .store(USER[3] + 8, PAGE)
        .is_good();
}

#[test]
fn nobody_holds_what_never_had_an_asid() {
    Writer::new()
        .store(OTHER[3], 0)
        .store(OTHER[3], 0x70_0000 | USER_PAGE)
        .store(OTHER[2], 0)
        .store(OTHER[2] + 16, OTHER[3] | TABLE)
        .load(OTHER[0], 6)
        .is_good();
}

#[test]
fn a_table_becomes_a_root() {
    Writer::new()
        .store(USER[3], 0)
        .store(USER[2], 0)
        .zero(USER[3])
        .flush(Action::InvalidateAll)
        .act(Action::NewRoot(USER[3]))
        .store(USER[3], FREE | TABLE)
        .load(USER[3], 7)
        .is_good();
}

#[test]
fn an_asid_changes_hands() {
    Writer::new()
        .load(0, 0)
        .flush(Action::InvalidateAsid(ASID))
        .load(OTHER[0], ASID)
        .is_good();
}

#[test]
fn a_block_joins_the_tables_and_leaves_them() {
    let mut trace = Writer::new();
    let leaf = trace.read(LINEAR);
    trace
        .store(LINEAR, leaf | READ_ONLY)
        .flush(Action::InvalidateAll)
        .zero(BLOCK)
        .store(USER[2] + 8, BLOCK | TABLE)
        .store(BLOCK, PAGE)
        .store(BLOCK, 0)
        .store(USER[2] + 8, 0)
        .zero(BLOCK)
        .flush(Action::InvalidateAll)
        .store(LINEAR, leaf)
        .is_good();
}

#[test]
fn records_are_read_as_they_are_written() {
    let event = Event::of([1 | 3 << 8, 0x1000, 2, 4]);
    let action = Action::Store {
        entry: 0x1000,
        old: 2,
        value: 4,
    };
    assert_eq!(event, Some(Event { cpu: 3, action }));
    let load = Event::of([10, 0x0007_0000_0020_4000, 0, 0]).map(|it| it.action);
    let (root, asid) = (0x20_4000, 7);
    assert_eq!(load, Some(Action::Load { root, asid }));
    assert_eq!(Event::of([0, 0, 0, 0]), None);
    assert_eq!(Event::of([12, 0, 0, 0]), None);
    assert_eq!(Event::of([4 | 99 << 8, 0, 0, 0]), None);
    assert_eq!(Event::all(&[0; 31]), None);
    assert_eq!(Event::all(&[]), Some(Vec::new()));
}
