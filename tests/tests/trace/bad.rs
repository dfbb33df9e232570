// SPDX-License-Identifier: MIT OR Apache-2.0
//! Traces that the oracle must reject, with the reason.

use donjon_models::trace::{Action, Rule};

use super::writer::{
    ARENA, ASID, BLOCK, CONSTANTS, FREE, KERNEL, KERNEL_PAGE, LINEAR, OTHER, OTHER_ASID, PAGE,
    PAGES, READ_ONLY, TABLE, UPPER, USER, USER_PAGE, WIDE, Writer,
};

const ANOTHER: u64 = 0x70_0000 | USER_PAGE;
const KERNELS: u64 = 0x70_0000 | KERNEL_PAGE;
const VA: u64 = 0;
const GONE: Action = Action::InvalidatePage { va: VA, asid: ASID };

#[test]
fn a_live_entry_gets_another_address_type_or_scope() {
    let contiguous = 1 << 52;
    let (index, shareability, not_global) = (1 << 2, 1 << 8, 1 << 11);
    for bits in [0x10_0000, contiguous, index, shareability, not_global] {
        let kernel = 0x60_0000 | KERNEL_PAGE;
        Writer::new()
            .store(KERNEL[3], kernel ^ bits)
            .breaks(Rule::LiveChange);
    }
    Writer::new()
        .store(USER[3], ANOTHER)
        .breaks(Rule::LiveChange);
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
    Writer::new()
        .store(KERNEL[3], 0)
        .store(KERNEL[3], KERNELS)
        .breaks(Rule::NotInvalidated);
}

#[test]
fn an_invalidation_of_another_address_or_asid() {
    let page = |va, asid| Action::InvalidatePage { va, asid };
    for other in [
        page(0x1000, ASID),
        page(VA, OTHER_ASID),
        Action::InvalidateAsid(OTHER_ASID),
    ] {
        Writer::new()
            .store(USER[3], 0)
            .flush(other)
            .store(USER[3], ANOTHER)
            .breaks(Rule::NotInvalidated);
    }
    Writer::new()
        .store(KERNEL[3], 0)
        .flush(Action::InvalidateTable(1 << 39))
        .store(KERNEL[3], KERNELS)
        .breaks(Rule::NotInvalidated);
}

#[test]
fn an_invalidation_before_the_store() {
    Writer::new()
        .flush(GONE)
        .store(USER[3], 0)
        .act(Action::Barrier)
        .store(USER[3], ANOTHER)
        .breaks(Rule::NotInvalidated);
}

#[test]
fn no_barrier_before_the_invalidation() {
    Writer::new()
        .store(USER[3], 0)
        .act(GONE)
        .act(Action::Barrier)
        .store(USER[3], ANOTHER)
        .breaks(Rule::Unordered);
}

#[test]
fn a_barrier_of_another_cpu_before_the_invalidation() {
    Writer::new()
        .store(KERNEL[3], 0)
        .on(1)
        .act(Action::StoreBarrier)
        .act(Action::InvalidateLeaf(UPPER))
        .act(Action::InvalidateLeaf(WIDE))
        .act(Action::Barrier)
        .store(KERNEL[3], KERNELS)
        .breaks(Rule::Unordered);
}

#[test]
fn no_barrier_behind_the_invalidation() {
    Writer::new()
        .store(USER[3], 0)
        .act(Action::StoreBarrier)
        .act(GONE)
        .store(USER[3] + 8, PAGE)
        .act(Action::Barrier)
        .breaks(Rule::Incomplete);
}

#[test]
fn a_barrier_for_stores_behind_the_invalidation() {
    Writer::new()
        .store(USER[3], 0)
        .act(Action::StoreBarrier)
        .act(GONE)
        .act(Action::StoreBarrier)
        .store(USER[3] + 8, PAGE)
        .breaks(Rule::Incomplete);
}

#[test]
fn a_barrier_of_another_cpu_behind_the_invalidation() {
    Writer::new()
        .store(USER[3], 0)
        .act(Action::StoreBarrier)
        .act(GONE)
        .on(1)
        .act(Action::Barrier)
        .store(USER[3], ANOTHER)
        .breaks(Rule::NotInvalidated);
}

#[test]
fn a_call_ends_before_its_invalidation_is_complete() {
    let mut trace = Writer::new();
    trace.act(GONE).end().breaks(Rule::Incomplete);
}

#[test]
fn a_call_ends_while_what_a_process_lost_is_held() {
    for value in [0, PAGE | READ_ONLY] {
        Writer::new()
            .store(USER[3], value)
            .end()
            .breaks(Rule::LeftHeld);
    }
    // The table is gone, and what it had for one page.
    Writer::new()
        .store(USER[2], 0)
        .flush(GONE)
        .end()
        .breaks(Rule::LeftHeld);
}

#[test]
fn one_of_two_addresses_of_the_kernel() {
    for address in [UPPER, WIDE] {
        Writer::new()
            .store(KERNEL[3], 0)
            .flush(Action::InvalidateLeaf(address))
            .store(KERNEL[3], KERNELS)
            .breaks(Rule::NotInvalidated);
    }
}

#[test]
fn another_table_where_one_is_held() {
    // Leaves are gone, but the entry that led to the table is not.
    Writer::new()
        .zero(PAGES[0])
        .store(USER[3], 0)
        .store(USER[2], 0)
        .flush(GONE)
        .store(USER[2], PAGES[0] | TABLE)
        .breaks(Rule::NotInvalidated);
}

#[test]
fn a_block_where_pages_are_held() {
    // Of the table the entry is gone, and of its pages the first.
    Writer::new()
        .store(KERNEL[3] + 8, 0x61_0000 | KERNEL_PAGE)
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
fn a_table_is_used_again_while_it_is_held() {
    for other in [Action::InvalidateAsid(OTHER_ASID), GONE] {
        Writer::new()
            .store(USER[2], 0)
            .flush(other)
            .zero(USER[3])
            .breaks(Rule::TableHeld);
    }
    Writer::new()
        .store(KERNEL[2], 0)
        .zero(KERNEL[3])
        .breaks(Rule::TableHeld);
}

#[test]
fn a_table_below_one_that_was_unlinked_is_held_too() {
    Writer::new()
        .store(USER[1], 0)
        .zero(USER[3])
        .breaks(Rule::TableHeld);
}

#[test]
fn a_table_moves_while_it_is_held() {
    Writer::new()
        .store(USER[2], 0)
        .store(USER[2] + 16, USER[3] | TABLE)
        .breaks(Rule::TableHeld);
}

#[test]
fn a_tree_that_was_not_invalidated_is_used_again() {
    for frame in [OTHER[0], OTHER[3]] {
        Writer::new().zero(frame).breaks(Rule::TableHeld);
    }
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
fn a_table_is_loaded_as_a_root() {
    Writer::new()
        .flush(Action::InvalidateAsid(9))
        .load(USER[1], 9)
        .breaks(Rule::LinkedTwice);
}

#[test]
fn what_is_no_tree_is_loaded() {
    for root in [FREE, BLOCK, KERNEL[0]] {
        Writer::new().load(root, 9).breaks(Rule::LoadedGone);
    }
}

#[test]
fn a_tree_that_was_dropped_is_loaded_again() {
    Writer::new()
        .flush(Action::InvalidateAsid(OTHER_ASID))
        .zero(OTHER[3])
        .load(OTHER[0], OTHER_ASID)
        .breaks(Rule::LoadedGone);
}

#[test]
fn a_table_of_a_tree_that_a_cpu_has_is_used_again() {
    for frame in USER {
        Writer::new().zero(frame).breaks(Rule::ZeroedInUse);
    }
    Writer::new().zero(KERNEL[3]).breaks(Rule::ZeroedInUse);
}

#[test]
fn a_process_gets_what_is_not_ordinary() {
    let pages = [
        // A table, a page of the arena, no memory, constants that it may write.
        KERNEL[3] | USER_PAGE | READ_ONLY,
        ARENA.start | USER_PAGE | READ_ONLY,
        0x900_0000 | USER_PAGE,
        CONSTANTS | USER_PAGE,
        CONSTANTS | USER_PAGE | READ_ONLY | 1 << 51,
        // For everybody, for EL1, for sixteen.
        PAGE & !(1 << 11),
        PAGE & !(1 << 53),
        PAGE | 1 << 52,
    ];
    for page in pages {
        Writer::new()
            .store(USER[3] + 8, page)
            .breaks(Rule::Forbidden);
    }
    // A block of which one page is a table.
    Writer::new()
        .store(USER[2] + 8, 0x20_0000 | USER_PAGE & !0b10 | READ_ONLY)
        .breaks(Rule::Forbidden);
}

#[test]
fn a_process_gets_what_has_become_a_pool() {
    let mut trace = Writer::new();
    let leaf = trace.read(LINEAR);
    trace
        .store(LINEAR, leaf | READ_ONLY)
        .flush(Action::InvalidateAll)
        .zero(BLOCK)
        .store(USER[3] + 8, (BLOCK + 0x5000) | USER_PAGE | READ_ONLY)
        .breaks(Rule::Forbidden);
}

#[test]
fn a_block_becomes_a_pool_while_a_process_has_a_page_of_it() {
    let mut trace = Writer::new();
    let leaf = trace.read(LINEAR);
    trace
        .store(USER[3] + 8, (BLOCK + 0x5000) | USER_PAGE | READ_ONLY)
        .store(LINEAR, leaf | READ_ONLY)
        .flush(Action::InvalidateAll)
        .breaks(Rule::StillMapped);
    // Or a TLB.
    let mut trace = Writer::new();
    trace
        .store(USER[3] + 8, (BLOCK + 0x5000) | USER_PAGE | READ_ONLY)
        .store(USER[3] + 8, 0)
        .store(LINEAR, leaf | READ_ONLY)
        .flush(Action::InvalidateAll)
        .breaks(Rule::StillMapped);
}

#[test]
fn a_frame_becomes_a_table_while_it_can_be_written() {
    let mut trace = Writer::new();
    let leaf = trace.read(LINEAR);
    trace
        .store(LINEAR, leaf | READ_ONLY)
        .zero(BLOCK)
        .breaks(Rule::WritableHeld);
    // A page of vmalloc that went without an invalidation.
    let mut trace = Writer::new();
    trace
        .store(KERNEL[3] + 8, (BLOCK + 0x5000) | KERNEL_PAGE)
        .store(KERNEL[3] + 8, 0)
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
        .store(KERNEL[2] + 8, BLOCK | TABLE)
        .store(KERNEL[2] + 8, 0)
        .store(LINEAR, leaf)
        .breaks(Rule::ReleasedHeld);
}

#[test]
fn an_asid_changes_hands_while_it_is_held() {
    for other in [ASID + 1, ASID + 2] {
        Writer::new()
            .load(0, 0)
            .zero(PAGES[0])
            .flush(Action::InvalidateAsid(other))
            .load(PAGES[0], ASID)
            .breaks(Rule::AsidHeld);
    }
}

#[test]
fn an_asid_is_invalidated_while_its_old_root_is_loaded() {
    // A walk of the old root may follow the invalidation.
    Writer::new()
        .zero(PAGES[0])
        .flush(Action::InvalidateAsid(ASID))
        .load(PAGES[0], ASID)
        .breaks(Rule::AsidHeld);
}

#[test]
fn two_roots_with_one_asid() {
    Writer::new()
        .zero(PAGES[0])
        .on(1)
        .flush(Action::InvalidateAsid(ASID))
        .load(PAGES[0], ASID)
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
        .flush(Action::InvalidateAsid(ASID))
        .end()
        .breaks(Rule::Unrecorded);
    // Nothing made this a table.
    Writer::new().store(BLOCK, PAGE).breaks(Rule::Unrecorded);
    Writer::new().store(PAGES[0], PAGE).breaks(Rule::Unrecorded);
}
