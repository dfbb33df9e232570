// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which steps a call becomes, in which order.

use donjon_abi::call::Reason;
use donjon_core::rules::{Configured, PoolKind, Progress, Rules, Step};
use donjon_tests::space::memory::{Machine, PAGE};
use donjon_tests::space::small::{
    self, Books, DATA, IMAGE, IMAGE_L2, IMAGE_L3, KERNEL_PAGE, LINEAR_L2, ORDINARY, POOL, ROOT,
    USER_PAGE,
};

const TABLE: u64 = 0b11;
/// Four free frames.
const FREE: [u64; 5] = {
    let first = POOL + small::TAKEN * PAGE;
    [
        first,
        first + PAGE,
        first + 2 * PAGE,
        first + 3 * PAGE,
        first + 4 * PAGE,
    ]
};
const WIDE: u64 = 1 << 47;

/// The steps of a call that succeeds.
fn steps<T: core::fmt::Debug>(
    machine: &mut Machine,
    call: impl FnOnce(&mut Machine) -> Result<T, Reason>,
) -> Vec<Step> {
    machine.trace = Some(Vec::new());
    let answer = call(machine);
    machine.settle();
    assert!(answer.is_ok(), "{answer:?}");
    assert_eq!(machine.violations, [] as [String; 0]);
    machine.trace.take().unwrap_or_default()
}

/// A user root with one table of each level, current on CPU 0 with ASID 7; the level 3 table.
fn user(machine: &mut Machine, rules: &mut Rules<'_>) -> u64 {
    let [root, one, two, three, _] = FREE;
    rules.new_root(machine, root).expect("free");
    for (entry, table) in [(root, one), (one, two), (two, three)] {
        rules.write(machine, entry, table | TABLE).expect("free");
    }
    let loaded = rules.switch_root(machine, 0, root, 7);
    assert_eq!(loaded, Ok(root | 7 << 48));
    machine.caches.load(&machine.frames, 0, Some((root, 7)));
    three
}

const fn write(entry: u64, value: u64) -> Step {
    Step::Write { entry, value }
}

const fn leaf(va: u64) -> Step {
    Step::InvalidateLeaf { va }
}

#[test]
fn a_page_that_was_unmapped_is_invalidated_before_another_is_mapped() {
    let mut books = Books::default();
    let (mut machine, mut rules) = small::build::<Configured>(&mut books);
    let entry = user(&mut machine, &mut rules) + 5 * 8;
    let first = DATA | USER_PAGE;
    let second = (DATA + PAGE) | USER_PAGE;
    let mut set = |value| steps(&mut machine, |hw| rules.write(hw, entry, value));
    assert_eq!(set(first), [write(entry, first)]);
    // Permissions change in place.
    assert_eq!(set(first | 1 << 7), [write(entry, first | 1 << 7)]);
    assert_eq!(set(0), [write(entry, 0)]);
    assert_eq!(set(0xff0), [write(entry, 0xff0)]);
    let flushed = [
        Step::BarrierStore,
        leaf(5 * PAGE),
        Step::Barrier,
        write(entry, second),
    ];
    assert_eq!(set(second), flushed);
    // Once is enough.
    assert_eq!(set(second | 1 << 55), [write(entry, second | 1 << 55)]);
    assert_eq!(set(0), [write(entry, 0)]);
    assert_eq!(set(second).len(), 4);
}

#[test]
fn a_kernel_page_is_invalidated_at_both_its_addresses() {
    let mut books = Books::default();
    let (mut machine, mut rules) = small::build::<Configured>(&mut books);
    let entry = IMAGE_L3 + 9 * 8;
    let va = IMAGE + 9 * PAGE;
    let value = DATA | KERNEL_PAGE;
    let mut set = |value| steps(&mut machine, |hw| rules.write(hw, entry, value));
    assert_eq!(set(value), [write(entry, value)]);
    assert_eq!(set(0), [write(entry, 0)]);
    let expected = [
        Step::BarrierStore,
        leaf(va),
        leaf(va - WIDE),
        Step::Barrier,
        write(entry, value),
    ];
    assert_eq!(set(value), expected);
}

#[test]
fn a_table_is_linked_only_after_its_root_forgot_the_one_before() {
    let mut books = Books::default();
    let (mut machine, mut rules) = small::build::<Configured>(&mut books);
    let three = user(&mut machine, &mut rules);
    let [_, _, two, _, other] = FREE;
    let descriptor = other | TABLE;
    let mut set = |value| steps(&mut machine, |hw| rules.write(hw, two, value));
    assert_eq!(set(0), [write(two, 0)]);
    let flush = [Step::BarrierStore, Step::InvalidateAsid(7), Step::Barrier];
    let expected: Vec<_> = flush.into_iter().chain([write(two, descriptor)]).collect();
    assert_eq!(set(descriptor), expected);
    // The one that was unlinked may come back elsewhere: nothing leads to it any more.
    let moved = steps(&mut machine, |hw| rules.write(hw, two + 8, three | TABLE));
    assert_eq!(moved, [write(two + 8, three | TABLE)]);
}

#[test]
fn a_table_that_moves_takes_its_pages_to_the_new_address() {
    let mut books = Books::default();
    let (mut machine, mut rules) = small::build::<Configured>(&mut books);
    let three = user(&mut machine, &mut rules);
    let [_, _, two, ..] = FREE;
    let page = DATA | USER_PAGE;
    rules.write(&mut machine, three, page).expect("ordinary");
    rules.write(&mut machine, two, 0).expect("clear");
    let steps_of_move = steps(&mut machine, |hw| {
        rules.write(hw, two + 3 * 8, three | TABLE)
    });
    assert_eq!(
        steps_of_move,
        [
            Step::BarrierStore,
            Step::InvalidateAsid(7),
            Step::Barrier,
            write(two + 3 * 8, three | TABLE)
        ]
    );
    rules.write(&mut machine, three, 0).expect("clear");
    let set = steps(&mut machine, |hw| rules.write(hw, three, page));
    assert_eq!(set[1], leaf(3 << 21));
}

#[test]
fn a_table_does_not_move_with_tables_below_it() {
    let mut books = Books::default();
    let (mut machine, mut rules) = small::build::<Configured>(&mut books);
    let three = user(&mut machine, &mut rules);
    let [_, one, two, ..] = FREE;
    rules.write(&mut machine, one, 0).expect("clear");
    let moved = rules.write(&mut machine, one + 3 * 8, two | TABLE);
    assert_eq!(moved, Err(Reason::InUse));
    // Back where it was neither: it is the same to the rules.
    let back = rules.write(&mut machine, one, two | TABLE);
    assert_eq!(back, Err(Reason::InUse));
    rules.write(&mut machine, two, 0).expect("clear");
    rules.release(&mut machine, three).expect("unlinked");
    rules
        .write(&mut machine, one + 3 * 8, two | TABLE)
        .expect("empty");
}

#[test]
fn a_kernel_table_that_is_unlinked_is_gone_at_once() {
    // Also where there is more metadata than numbers: the last number means no root.
    for blocks in [3, 127, 128, 200] {
        let mut books = Books::with_blocks(blocks);
        let (mut machine, mut rules) = small::build::<Configured>(&mut books);
        let entry = IMAGE_L2 + 8;
        let value = FREE[0] | TABLE;
        let mut set = |value| steps(&mut machine, |hw| rules.write(hw, entry, value));
        assert_eq!(set(value), [write(entry, value)]);
        let all = [
            write(entry, 0),
            Step::BarrierStore,
            Step::InvalidateAll,
            Step::Barrier,
        ];
        assert_eq!(set(0), all, "{blocks} blocks");
    }
}

#[test]
fn a_block_with_other_memory_attributes_joins_no_pool() {
    const ATTRIBUTES: u64 = 0b111 << 2 | 0b11 << 8;
    for kind in [PoolKind::Tables, PoolKind::Text] {
        // Device memory, and normal memory that is not shareable.
        for attributes in [4 << 2, 0] {
            let mut books = Books::default();
            let (mut machine, mut rules) = small::build::<Configured>(&mut books);
            let entry = LINEAR_L2 + (ORDINARY - small::RAM) / small::BLOCK * 8;
            let value = machine.frames.read(entry) & !ATTRIBUTES | attributes;
            rules.write(&mut machine, entry, 0).expect("clear");
            rules.write(&mut machine, entry, value).expect("ordinary");
            let added = rules.pool_add(&mut machine, ORDINARY, kind);
            assert_eq!(added, Err(Reason::WrongFrame), "{kind:?} {attributes:#x}");
        }
    }
}

#[test]
fn a_kernel_block_that_is_cleared_is_gone_at_once() {
    let mut books = Books::default();
    let (mut machine, mut rules) = small::build::<Configured>(&mut books);
    let entry = IMAGE_L2 + 2 * 8;
    let va = IMAGE + 2 * small::BLOCK;
    let value = ORDINARY | KERNEL_PAGE & !0b10;
    let mut set = |value| steps(&mut machine, |hw| rules.write(hw, entry, value));
    assert_eq!(set(value), [write(entry, value)]);
    let expected = [
        write(entry, 0),
        Step::BarrierStore,
        Step::InvalidateTable { va },
        Step::InvalidateTable { va: va - WIDE },
        Step::Barrier,
    ];
    assert_eq!(set(0), expected);
}

#[test]
fn a_root_slot_is_linked_in_both_halves() {
    let mut books = Books::default();
    let (mut machine, mut rules) = small::build::<Configured>(&mut books);
    let entry = ROOT + 130 * 8;
    let value = FREE[0] | TABLE;
    let set = steps(&mut machine, |hw| rules.write(hw, entry, value));
    assert_eq!(set, [write(entry + 256 * 8, value), write(entry, value)]);
    let again = rules.write(&mut machine, entry, 0);
    assert_eq!(again, Err(Reason::BadSlot));
}

#[test]
fn a_frame_that_was_another_class_waits_for_an_invalidation_of_everything() {
    let mut books = Books::default();
    let (mut machine, mut rules) = small::build::<Configured>(&mut books);
    let three = user(&mut machine, &mut rules);
    let [_, one, two, ..] = FREE;
    rules.write(&mut machine, two, 0).expect("clear");
    let released = steps(&mut machine, |hw| rules.release(hw, three));
    assert_eq!(released, [Step::ZeroFrame(three), Step::BarrierStore]);
    let linked = steps(&mut machine, |hw| rules.write(hw, one + 8, three | TABLE));
    // The root has forgotten it as well, but says so itself.
    assert_eq!(
        linked,
        [
            Step::BarrierStore,
            Step::InvalidateAll,
            Step::Barrier,
            Step::BarrierStore,
            Step::InvalidateAsid(7),
            Step::Barrier,
            write(one + 8, three | TABLE),
        ]
    );
}

#[test]
fn an_asid_is_new_to_the_root_that_gets_it() {
    let mut books = Books::default();
    let (mut machine, mut rules) = small::build::<Configured>(&mut books);
    let _ = user(&mut machine, &mut rules);
    let [root, _, _, _, other] = FREE;
    rules.new_root(&mut machine, other).expect("free");
    let mut load = |root, asid| steps(&mut machine, |hw| rules.switch_root(hw, 0, root, asid));
    let flush = |asid| {
        [
            Step::BarrierStore,
            Step::InvalidateAsid(asid),
            Step::Barrier,
        ]
    };
    assert_eq!(load(root, 7), []);
    assert_eq!(load(other, 8), flush(8));
    assert_eq!(load(root, 7), []);
    assert_eq!(load(other, 7), flush(7));
    assert_eq!(load(root, 7), flush(7));
    assert_eq!(load(0, 0), []);
}

#[test]
fn a_page_becomes_text_through_invalid() {
    let mut books = Books::default();
    let (mut machine, mut rules) = small::build::<Configured>(&mut books);
    let entry = IMAGE_L3 + 8 * 8;
    let va = IMAGE + 8 * PAGE;
    let value = DATA | KERNEL_PAGE;
    rules.write(&mut machine, entry, value).expect("ordinary");
    let text = small::TEXT_POOL;
    let sealed = steps(&mut machine, |hw| {
        let seal = rules.seal_begin(hw, va)?;
        assert_eq!((seal.from, seal.to, seal.entry), (DATA, text, entry));
        rules.seal_finish(hw, seal)
    });
    let executable = text | 0b11 | 0b11 << 8 | 1 << 10 | 1 << 7 | 1 << 54;
    let through_invalid = [
        write(entry, 0),
        Step::BarrierStore,
        leaf(va),
        leaf(va - WIDE),
        Step::Barrier,
        write(entry, executable),
        Step::BarrierStore,
    ];
    assert_eq!(sealed, through_invalid);
    let found = rules.kernel_leaf(&machine, va + 0x124);
    assert_eq!(found.map(|it| (it.entry, it.page)), Some((entry, text)));

    let cleared = steps(&mut machine, |hw| rules.write(hw, entry, 0));
    assert_eq!(
        cleared,
        [
            write(entry, 0),
            Step::BarrierStore,
            leaf(va),
            leaf(va - WIDE),
            Step::Barrier
        ]
    );
    // The frame is free again.
    rules.write(&mut machine, entry, value).expect("ordinary");
    let seal = rules.seal_begin(&mut machine, va).expect("a free frame");
    assert_eq!(seal.to, text);
}

#[test]
#[cfg_attr(miri, ignore = "zeroes and compares two megabytes")]
fn a_block_joins_the_pool_after_everything_was_invalidated_and_before_it_is_zeroed() {
    let mut books = Books::default();
    let (mut machine, mut rules) = small::build::<Configured>(&mut books);
    let entry = LINEAR_L2 + 3 * 8;
    let before = machine.frames.read(entry);
    let mut calls = 1;
    let joined = steps(&mut machine, |hw| {
        while rules.pool_add(hw, ORDINARY, PoolKind::Tables)? == Progress::Again {
            calls += 1;
        }
        Ok(())
    });
    let start = [
        write(entry, before | 1 << 7),
        Step::BarrierStore,
        Step::InvalidateAll,
        Step::Barrier,
        Step::ZeroFrame(ORDINARY),
        Step::CleanFrame(ORDINARY),
    ];
    assert_eq!(joined[..start.len()], start);
    let zeroed = joined.iter().filter(|it| matches!(it, Step::ZeroFrame(_)));
    assert_eq!(zeroed.count(), 512);
    assert!(calls > 30, "{calls} calls are too few for slices");

    let left = steps(&mut machine, |hw| rules.pool_remove(hw, ORDINARY));
    let va = small::LINEAR + 3 * small::BLOCK;
    assert_eq!(
        left,
        [
            Step::BarrierStore,
            Step::InvalidateAll,
            Step::Barrier,
            write(entry, before | 1 << 51),
            Step::BarrierStore,
            Step::InvalidateTable { va },
            Step::InvalidateTable { va: va - WIDE },
            Step::Barrier,
        ]
    );
}

#[test]
fn a_block_that_is_mapped_elsewhere_does_not_join() {
    let mut books = Books::default();
    let (mut machine, mut rules) = small::build::<Configured>(&mut books);
    let three = user(&mut machine, &mut rules);
    let page = (ORDINARY + 77 * PAGE) | USER_PAGE;
    rules.write(&mut machine, three, page).expect("ordinary");
    let first = rules.pool_add(&mut machine, ORDINARY, PoolKind::Tables);
    assert_eq!(first, Ok(Progress::Again));
    // Claimed: nobody maps it any more.
    let anew = rules.write(&mut machine, three + 8, page);
    assert_eq!(anew, Err(Reason::BadTarget));
    let last = loop {
        match rules.pool_add(&mut machine, ORDINARY, PoolKind::Tables) {
            Ok(Progress::Again) => {}
            other => break other,
        }
    };
    assert_eq!(last, Err(Reason::InUse));
    rules
        .write(&mut machine, three + 8, page)
        .expect("ordinary");
}
