// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the oracle must name.

use donjon_tests::trace::{Action, Rule};

use super::writer::{
    ASID, BLOCK, FREE, KERNEL, LINEAR, OTHER, PAGE, READ_ONLY, TABLE, UPPER, USER, USER_PAGE, WIDE,
    Writer,
};

const ANOTHER: u64 = 0x70_0000 | USER_PAGE;

#[test]
fn a_live_entry_gets_another_address_type_or_scope() {
    let contiguous = 1 << 52;
    let (index, shareability, not_global) = (1 << 2, 1 << 8, 1 << 11);
    for bits in [0x10_0000, contiguous, index, shareability, not_global] {
        Writer::new()
            .store(USER[3], PAGE ^ bits)
            .breaks(Rule::LiveChange);
    }
}

#[test]
fn a_live_block_becomes_a_table() {
    Writer::new()
        .store(LINEAR, FREE | TABLE)
        .breaks(Rule::LiveChange);
}

#[test]
fn no_invalidation() {
    Writer::new()
        .store(USER[3], 0)
        .store(USER[3], ANOTHER)
        .breaks(Rule::NotInvalidated);
}

#[test]
fn an_invalidation_of_another_address_or_asid() {
    for other in [
        Action::InvalidateLeaf(0x1000),
        Action::InvalidateTable(1 << 39),
        Action::InvalidateAsid(6),
    ] {
        Writer::new()
            .store(USER[3], 0)
            .flush(other)
            .store(USER[3], ANOTHER)
            .breaks(Rule::NotInvalidated);
    }
}

#[test]
fn an_invalidation_before_the_store() {
    Writer::new()
        .flush(Action::InvalidateLeaf(0))
        .store(USER[3], 0)
        .act(Action::Barrier)
        .store(USER[3], ANOTHER)
        .breaks(Rule::NotInvalidated);
}

#[test]
fn no_barrier_before_the_invalidation() {
    Writer::new()
        .store(USER[3], 0)
        .act(Action::InvalidateLeaf(0))
        .act(Action::Barrier)
        .store(USER[3], ANOTHER)
        .breaks(Rule::Unordered);
}

#[test]
fn a_barrier_of_another_cpu_before_the_invalidation() {
    Writer::new()
        .store(USER[3], 0)
        .on(1)
        .flush(Action::InvalidateLeaf(0))
        .store(USER[3], ANOTHER)
        .breaks(Rule::Unordered);
}

#[test]
fn no_barrier_behind_the_invalidation() {
    let mut trace = Writer::new();
    trace
        .store(USER[3], 0)
        .act(Action::StoreBarrier)
        .act(Action::InvalidateLeaf(0))
        .store(USER[3] + 8, PAGE)
        .act(Action::Barrier)
        .breaks(Rule::Incomplete);
}

#[test]
fn a_barrier_for_stores_behind_the_invalidation() {
    Writer::new()
        .store(USER[3], 0)
        .act(Action::StoreBarrier)
        .act(Action::InvalidateLeaf(0))
        .act(Action::StoreBarrier)
        .store(USER[3] + 8, PAGE)
        .breaks(Rule::Incomplete);
}

#[test]
fn a_barrier_of_another_cpu_behind_the_invalidation() {
    Writer::new()
        .store(USER[3], 0)
        .act(Action::StoreBarrier)
        .act(Action::InvalidateLeaf(0))
        .on(1)
        .act(Action::Barrier)
        .store(USER[3], ANOTHER)
        .breaks(Rule::NotInvalidated);
}

#[test]
fn one_of_two_addresses_of_the_kernel() {
    for address in [UPPER, WIDE] {
        Writer::new()
            .store(KERNEL[3], 0)
            .flush(Action::InvalidateLeaf(address))
            .store(KERNEL[3], ANOTHER)
            .breaks(Rule::NotInvalidated);
    }
}

#[test]
fn another_table_where_one_is_held() {
    // Leaves are gone, but the entry that led to the table is not.
    Writer::new()
        .store(USER[3], 0)
        .store(USER[2], 0)
        .flush(Action::InvalidateLeaf(0))
        .store(USER[2], FREE | TABLE)
        .breaks(Rule::NotInvalidated);
}

#[test]
fn a_block_where_pages_are_held() {
    // Of the table the entry is gone, and of its pages the first.
    Writer::new()
        .store(KERNEL[3] + 8, 0x61_0000 | USER_PAGE)
        .store(KERNEL[3] + 8, 0)
        .store(KERNEL[2], 0)
        .act(Action::StoreBarrier)
        .act(Action::InvalidateTable(UPPER))
        .act(Action::InvalidateTable(WIDE))
        .act(Action::Barrier)
        .store(KERNEL[2], 0x80_0000 | 0b01)
        .breaks(Rule::NotInvalidated);
}

#[test]
fn a_page_where_a_block_is_held() {
    let mut trace = Writer::new();
    trace
        .store(LINEAR, 0)
        .store(LINEAR, FREE | TABLE)
        .breaks(Rule::NotInvalidated);
}

#[test]
fn a_table_moves_while_it_is_held() {
    for other in [Action::InvalidateAsid(6), Action::InvalidateLeaf(0)] {
        Writer::new()
            .store(USER[2], 0)
            .flush(other)
            .store(USER[2] + 16, USER[3] | TABLE)
            .breaks(Rule::TableHeld);
    }
}

#[test]
fn a_table_moves_to_another_root() {
    Writer::new()
        .store(USER[1], 0)
        .store(OTHER[1] + 8, USER[2] | TABLE)
        .breaks(Rule::TableHeld);
}

#[test]
fn a_held_table_becomes_one_of_another_class() {
    Writer::new()
        .store(USER[3], 0)
        .store(USER[2], 0)
        .zero(USER[3])
        .store(KERNEL[1] + 8, USER[3] | TABLE)
        .breaks(Rule::TableHeld);
}

#[test]
fn a_held_table_becomes_a_root() {
    Writer::new()
        .store(USER[3], 0)
        .store(USER[2], 0)
        .zero(USER[3])
        .act(Action::NewRoot(USER[3]))
        .breaks(Rule::TableHeld);
}

#[test]
fn a_table_below_one_that_was_unlinked_is_held_too() {
    Writer::new()
        .store(USER[1], 0)
        .store(USER[2], 0)
        .store(OTHER[2] + 8, USER[3] | TABLE)
        .breaks(Rule::TableHeld);
}

#[test]
fn a_table_with_two_parents() {
    Writer::new()
        .store(USER[2] + 8, USER[3] | TABLE)
        .breaks(Rule::LinkedTwice);
    Writer::new()
        .store(OTHER[2] + 8, USER[0] | TABLE)
        .breaks(Rule::LinkedTwice);
}

#[test]
fn a_table_is_zeroed_while_it_is_linked_or_loaded() {
    Writer::new().zero(OTHER[3]).breaks(Rule::ZeroedInUse);
    Writer::new().zero(USER[0]).breaks(Rule::ZeroedInUse);
}

#[test]
fn a_frame_becomes_a_table_while_somebody_can_write_it() {
    let mut trace = Writer::new();
    let leaf = trace.read(LINEAR);
    trace
        .store(LINEAR, leaf | READ_ONLY)
        .zero(BLOCK)
        .breaks(Rule::WritableHeld);
    // A user's page that went without an invalidation.
    let mut trace = Writer::new();
    trace
        .store(USER[3] + 8, (BLOCK + 0x5000) | USER_PAGE)
        .store(USER[3] + 8, 0)
        .zero(BLOCK)
        .breaks(Rule::WritableHeld);
}

#[test]
fn a_frame_becomes_ordinary_while_it_is_held_as_a_table() {
    let mut trace = Writer::new();
    let leaf = trace.read(LINEAR);
    trace
        .store(LINEAR, leaf | READ_ONLY)
        .flush(Action::InvalidateAll)
        .zero(BLOCK)
        .store(USER[2] + 8, BLOCK | TABLE)
        .store(USER[2] + 8, 0)
        .zero(BLOCK)
        .store(LINEAR, leaf)
        .breaks(Rule::ReleasedHeld);
}

#[test]
fn an_asid_changes_hands_while_it_is_held() {
    for other in [ASID + 1, ASID + 2] {
        Writer::new()
            .load(0, 0)
            .flush(Action::InvalidateAsid(other))
            .load(OTHER[0], ASID)
            .breaks(Rule::AsidHeld);
    }
}

#[test]
fn a_root_comes_back_to_an_asid_that_is_held() {
    Writer::new()
        .load(USER[0], 6)
        .store(USER[3], 0)
        .flush(Action::InvalidateAsid(6))
        .load(USER[0], ASID)
        .breaks(Rule::AsidHeld);
}

#[test]
fn two_roots_with_one_asid() {
    Writer::new()
        .on(1)
        .flush(Action::InvalidateAsid(ASID))
        .load(OTHER[0], ASID)
        .breaks(Rule::AsidShared);
}

#[test]
fn one_root_with_two_asids() {
    Writer::new()
        .on(1)
        .load(USER[0], ASID + 1)
        .breaks(Rule::AsidShared);
}

#[test]
fn a_store_that_was_not_recorded() {
    Writer::new()
        .secretly(USER[3] + 8, PAGE)
        .breaks(Rule::Unrecorded);
    Writer::new()
        .secretly(USER[3] + 8, PAGE)
        .store(USER[3] + 8, 0)
        .breaks(Rule::Unrecorded);
    // Nobody made this a table.
    Writer::new().store(BLOCK, PAGE).breaks(Rule::Unrecorded);
}
