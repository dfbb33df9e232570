// SPDX-License-Identifier: MIT OR Apache-2.0
//! Traces that the oracle must accept.

use donjon_models::trace::{Action, Event};

use super::writer::{
    ASID, BLOCK, CONSTANTS, FREE, KERNEL, KERNEL_PAGE, LINEAR, OTHER, OTHER_ASID, PAGE, PAGES,
    READ_ONLY, TABLE, UPPER, USER, USER_PAGE, WIDE, Writer,
};

const VA: u64 = 0;
const GONE: Action = Action::InvalidatePage { va: VA, asid: ASID };

#[test]
fn a_page_is_replaced_through_invalid() {
    Writer::new()
        .store(USER[3], 0)
        .flush(GONE)
        .store(USER[3], 0x70_0000 | USER_PAGE)
        .end()
        .is_good();
}

#[test]
fn a_kernel_page_that_one_cpu_clears_is_invalidated_by_another() {
    Writer::new()
        .store(KERNEL[3], 0)
        .act(Action::StoreBarrier)
        .end()
        .on(1)
        .act(Action::InvalidateLeaf(UPPER))
        .act(Action::InvalidateLeaf(WIDE))
        .act(Action::Barrier)
        .end()
        .on(0)
        .store(KERNEL[3], 0x70_0000 | KERNEL_PAGE)
        .end()
        .is_good();
}

#[test]
fn what_one_cpu_stores_to_a_tree_is_no_business_of_another_cpu() {
    Writer::new()
        .store(USER[3] + 8, PAGE)
        .on(1)
        .store(OTHER[3], 0)
        .flush(Action::InvalidateAsid(OTHER_ASID))
        .end()
        .on(0)
        .end()
        .is_good();
}

#[test]
fn permissions_change_in_place_and_are_invalidated() {
    Writer::new()
        .store(USER[3], PAGE | READ_ONLY)
        .flush(GONE)
        .end()
        .store(USER[3], PAGE)
        .flush(Action::InvalidateAsid(ASID))
        .end()
        .is_good();
}

#[test]
fn constants_are_a_users_to_read() {
    Writer::new()
        .store(USER[3] + 8, CONSTANTS | USER_PAGE | READ_ONLY)
        .store(USER[2] + 8, BLOCK | USER_PAGE & !0b10)
        .end()
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
        .store(KERNEL[3], 0x70_0000 | KERNEL_PAGE)
        .end()
        .is_good();
}

#[test]
fn a_kernel_page_that_was_cleared_may_wait_for_its_invalidation() {
    Writer::new()
        .store(KERNEL[3], 0)
        .act(Action::StoreBarrier)
        .end()
        .is_good();
}

#[test]
fn a_table_is_used_again_behind_an_invalidation_of_its_asid() {
    Writer::new()
        .store(USER[2], 0)
        .flush(Action::InvalidateAsid(ASID))
        .end()
        .zero(USER[3])
        .store(OTHER[2] + 16, USER[3] | TABLE)
        .store(USER[3] + 8, PAGE)
        .end()
        .is_good();
}

#[test]
fn a_tree_is_made() {
    Writer::new()
        .zero(PAGES[0])
        .flush(Action::InvalidateAsid(9))
        .load(PAGES[0], 9)
        .end()
        .zero(PAGES[1])
        .store(PAGES[0], PAGES[1] | TABLE)
        .end()
        .is_good();
}

#[test]
fn a_tree_that_was_dropped_is_used_again() {
    Writer::new()
        .flush(Action::InvalidateAsid(OTHER_ASID))
        .end()
        // A table below the root first.
        .zero(OTHER[2])
        .store(USER[1] + 8, OTHER[2] | TABLE)
        .zero(OTHER[0])
        .store(USER[0] + 8, OTHER[0] | TABLE)
        .end()
        .is_good();
}

#[test]
fn an_asid_gets_another_tree() {
    Writer::new()
        .flush(Action::InvalidateAsid(OTHER_ASID))
        .zero(PAGES[0])
        .flush(Action::InvalidateAsid(OTHER_ASID))
        .load(PAGES[0], OTHER_ASID)
        .end()
        .zero(OTHER[3])
        .is_good();
}

#[test]
fn an_asid_gets_another_process() {
    Writer::new()
        .load(0, 0)
        .store(USER[0], 0)
        .flush(Action::InvalidateAsid(ASID))
        .load(USER[0], ASID)
        .end()
        .zero(USER[2])
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
        .store(KERNEL[2] + 8, BLOCK | TABLE)
        .store(BLOCK, 0x60_0000 | KERNEL_PAGE)
        .store(BLOCK, 0)
        .store(KERNEL[2] + 8, 0)
        .flush(Action::InvalidateAll)
        .zero(BLOCK)
        .flush(Action::InvalidateAll)
        .store(LINEAR, leaf)
        .end()
        .is_good();
}

#[test]
fn a_block_that_joins_was_withdrawn_before() {
    let mut trace = Writer::new();
    let leaf = trace.read(LINEAR);
    trace
        .store(USER[3] + 8, BLOCK | USER_PAGE)
        .end()
        .store(USER[3] + 8, 0)
        .flush(Action::InvalidateAsid(ASID))
        .end()
        .store(LINEAR, leaf | READ_ONLY)
        .flush(Action::InvalidateAll)
        .zero(BLOCK)
        .end()
        .is_good();
}

#[test]
fn a_kernel_table_is_used_again() {
    Writer::new()
        .store(KERNEL[2], 0)
        .flush(Action::InvalidateAll)
        .zero(KERNEL[3])
        .store(KERNEL[1] + 8, KERNEL[3] | TABLE)
        .store(KERNEL[2], FREE | TABLE)
        .end()
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
    let page = Event::of([11, 0x7000, 5, 0]).map(|it| it.action);
    let (va, asid) = (0x7000, 5);
    assert_eq!(page, Some(Action::InvalidatePage { va, asid }));
    assert_eq!(
        Event::of([12, 0, 0, 0]).map(|it| it.action),
        Some(Action::End)
    );
    assert_eq!(Event::of([0, 0, 0, 0]), None);
    assert_eq!(Event::of([13, 0, 0, 0]), None);
    assert_eq!(Event::of([4 | 99 << 8, 0, 0, 0]), None);
    assert_eq!(Event::all(&[0; 31]), None);
    assert_eq!(Event::all(&[]), Some(Vec::new()));
}
