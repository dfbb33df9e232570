// SPDX-License-Identifier: MIT OR Apache-2.0
//! The steps of each call, and their order.

use donjon_abi::call::Reason;
use donjon_core::checks::Configured;
use donjon_core::kernel_tables::PoolKind;
use donjon_core::pools::Progress;
use donjon_core::translation::Step;
use donjon_models::space::memory::{PAGE, SmallMachine};
use donjon_models::space::small::{
    self, DATA, IMAGE, IMAGE_L1, IMAGE_L2, IMAGE_L3, KERNEL_PAGE, LINEAR_L2, ORDINARY,
    OwnedStorage, POOL, ROOT,
};

const TABLE: u64 = 0b11;
/// Two free frames.
const FREE: [u64; 2] = [POOL + small::TAKEN * PAGE, POOL + (small::TAKEN + 1) * PAGE];
const WIDE: u64 = 1 << 47;

/// The steps of a call that succeeds.
fn steps<T: core::fmt::Debug>(
    machine: &mut SmallMachine,
    call: impl FnOnce(&mut SmallMachine) -> Result<T, Reason>,
) -> Vec<Step> {
    machine.trace = Some(Vec::new());
    let answer = call(machine);
    machine.expect_nothing_pending();
    assert!(answer.is_ok(), "{answer:?}");
    assert_eq!(machine.violations, [] as [String; 0]);
    machine.trace.take().unwrap_or_default()
}

const fn write(entry: u64, value: u64) -> Step {
    Step::Write { entry, value }
}

const fn leaf(va: u64) -> Step {
    Step::InvalidateLeaf { va }
}

#[test]
fn a_page_that_was_unmapped_is_invalidated_before_another_is_mapped() {
    let mut storage = OwnedStorage::default();
    let (mut machine, mut pools) = small::build::<Configured>(&mut storage);
    let entry = IMAGE_L3 + 9 * 8;
    let va = IMAGE + 9 * PAGE;
    let first = DATA | KERNEL_PAGE;
    let second = (DATA + PAGE) | KERNEL_PAGE;
    let mut set = |value| steps(&mut machine, |hw| pools.tables.write(hw, entry, value));
    assert_eq!(set(first), [write(entry, first)]);
    // Permissions change in place.
    assert_eq!(set(first | 1 << 7), [write(entry, first | 1 << 7)]);
    assert_eq!(set(0), [write(entry, 0)]);
    assert_eq!(set(0xff0), [write(entry, 0xff0)]);
    // At both addresses.
    let flushed = [
        Step::BarrierStore,
        leaf(va),
        leaf(va - WIDE),
        Step::Barrier,
        write(entry, second),
    ];
    assert_eq!(set(second), flushed);
    // Once is enough.
    assert_eq!(set(second | 1 << 55), [write(entry, second | 1 << 55)]);
    assert_eq!(set(0), [write(entry, 0)]);
    assert_eq!(set(second).len(), 5);
}

#[test]
fn a_table_stays_where_it_is_until_it_is_released() {
    let mut storage = OwnedStorage::default();
    let (mut machine, mut pools) = small::build::<Configured>(&mut storage);
    let [two, three] = FREE;
    let (above, entry) = (IMAGE_L1 + 8, two + 8);
    for (entry, table) in [(above, two), (entry, three)] {
        pools
            .tables
            .write(&mut machine, entry, table | TABLE)
            .expect("free");
    }
    assert_eq!(
        pools.tables.release(&mut machine, three),
        Err(Reason::InUse)
    );
    pools.tables.write(&mut machine, above, 0).expect("clear");
    // With a table below it, it is in use as well; and it does not come back as it is.
    assert_eq!(pools.tables.release(&mut machine, two), Err(Reason::InUse));
    let back = pools.tables.write(&mut machine, above, two | TABLE);
    assert_eq!(back, Err(Reason::BadTable));
    pools.tables.write(&mut machine, entry, 0).expect("clear");
    let released = steps(&mut machine, |hw| pools.tables.release(hw, three));
    assert_eq!(released, [Step::ZeroFrame(three), Step::BarrierStore]);
    pools.tables.release(&mut machine, two).expect("empty");
    // Everything was invalidated when it was unlinked: it may be of another level now.
    let linked = steps(&mut machine, |hw| {
        pools.tables.write(hw, above, three | TABLE)
    });
    assert_eq!(linked, [write(above, three | TABLE)]);
}

#[test]
fn a_kernel_table_that_is_unlinked_is_gone_at_once() {
    // Also where there is more metadata than numbers.
    for blocks in [3, 255, 256, 300] {
        let mut storage = OwnedStorage::with_blocks(blocks);
        let (mut machine, mut pools) = small::build::<Configured>(&mut storage);
        let entry = IMAGE_L2 + 8;
        let value = FREE[0] | TABLE;
        let mut set = |value| steps(&mut machine, |hw| pools.tables.write(hw, entry, value));
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
        // Device memory, and memory that is not cached and not shareable.
        for attributes in [4 << 2, 2 << 2] {
            let mut storage = OwnedStorage::default();
            let (mut machine, mut pools) = small::build::<Configured>(&mut storage);
            let entry = LINEAR_L2 + (ORDINARY - small::RAM) / small::BLOCK * 8;
            let value = machine.frames.read(entry) & !ATTRIBUTES | attributes;
            pools.tables.write(&mut machine, entry, 0).expect("clear");
            pools
                .tables
                .write(&mut machine, entry, value)
                .expect("ordinary");
            let added = pools.add(&mut machine, ORDINARY, kind, None);
            assert_eq!(added, Err(Reason::WrongFrame), "{kind:?} {attributes:#x}");
        }
    }
}

#[test]
fn cached_memory_is_inner_shareable() {
    const SHAREABILITY: u64 = 0b11 << 8;
    let mut storage = OwnedStorage::default();
    let (mut machine, mut pools) = small::build::<Configured>(&mut storage);
    let page = (IMAGE_L3 + 8 * 30, ORDINARY | KERNEL_PAGE);
    let block = (IMAGE_L2 + 2 * 8, ORDINARY | KERNEL_PAGE & !0b10);
    for (entry, leaf) in [page, block] {
        for index in 0..=4 {
            for shareability in [0, 0b10, 0b11] {
                let value = leaf & !SHAREABILITY | shareability << 8 | index << 2;
                let expected = if index < 2 && shareability != 0b11 {
                    Err(Reason::BadAttributes)
                } else {
                    Ok(())
                };
                pools.tables.write(&mut machine, entry, 0).expect("clear");
                let answer = pools.tables.write(&mut machine, entry, value).map(drop);
                assert_eq!(answer, expected, "{value:#x}");
            }
        }
    }
}

#[test]
fn a_kernel_block_that_is_cleared_is_gone_at_once() {
    let mut storage = OwnedStorage::default();
    let (mut machine, mut pools) = small::build::<Configured>(&mut storage);
    let entry = IMAGE_L2 + 2 * 8;
    let va = IMAGE + 2 * small::BLOCK;
    let value = ORDINARY | KERNEL_PAGE & !0b10;
    let mut set = |value| steps(&mut machine, |hw| pools.tables.write(hw, entry, value));
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
    let mut storage = OwnedStorage::default();
    let (mut machine, mut pools) = small::build::<Configured>(&mut storage);
    let entry = ROOT + 130 * 8;
    let value = FREE[0] | TABLE;
    let set = steps(&mut machine, |hw| pools.tables.write(hw, entry, value));
    assert_eq!(set, [write(entry + 256 * 8, value), write(entry, value)]);
    let again = pools.tables.write(&mut machine, entry, 0);
    assert_eq!(again, Err(Reason::BadSlot));
}

#[test]
fn a_page_becomes_text_through_invalid() {
    let mut storage = OwnedStorage::default();
    let (mut machine, mut pools) = small::build::<Configured>(&mut storage);
    let entry = IMAGE_L3 + 8 * 8;
    let va = IMAGE + 8 * PAGE;
    let value = DATA | KERNEL_PAGE;
    pools
        .tables
        .write(&mut machine, entry, value)
        .expect("ordinary");
    let text = small::TEXT_POOL;
    let data = pools.tables.kernel_leaf(&machine, va).expect("mapped");
    assert!(!data.executable, "what is data is no address of text");
    let sealed = steps(&mut machine, |hw| {
        let seal = pools.tables.seal_begin(hw, va)?;
        assert_eq!((seal.from, seal.to, seal.entry), (DATA, text, entry));
        pools.tables.seal_finish(hw, seal)
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
    let found = pools.tables.kernel_leaf(&machine, va + 0x124);
    let found = found.map(|it| (it.entry, it.page, it.executable));
    assert_eq!(found, Some((entry, text, true)));

    let cleared = steps(&mut machine, |hw| pools.tables.write(hw, entry, 0));
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
    pools
        .tables
        .write(&mut machine, entry, value)
        .expect("ordinary");
    let seal = pools
        .tables
        .seal_begin(&mut machine, va)
        .expect("a free frame");
    assert_eq!(seal.to, text);
}

#[test]
#[cfg_attr(miri, ignore = "zeroes and compares two megabytes")]
fn a_block_joins_the_pool_after_everything_was_invalidated_and_before_it_is_zeroed() {
    let mut storage = OwnedStorage::default();
    let (mut machine, mut pools) = small::build::<Configured>(&mut storage);
    let entry = LINEAR_L2 + 3 * 8;
    let before = machine.frames.read(entry);
    let mut calls = 1;
    let joined = steps(&mut machine, |hw| {
        while pools.add(hw, ORDINARY, PoolKind::Tables, None)? == Progress::Again {
            calls += 1;
        }
        Ok(())
    });
    let start = [
        // The frames are claimed, for all CPUs.
        Step::Barrier,
        write(entry, before | 1 << 7),
        Step::BarrierStore,
        Step::InvalidateAll,
        Step::Barrier,
        Step::ZeroFrame(ORDINARY),
    ];
    assert_eq!(joined[..start.len()], start);
    let place = |step| {
        let mut places = joined.iter().enumerate().filter(|(_, it)| **it == step);
        let (place, _) = places.next().expect("each frame is zeroed and cleaned");
        assert!(places.next().is_none(), "{step:?} comes twice");
        place
    };
    for frame in (ORDINARY..ORDINARY + small::BLOCK).step_by(PAGE as usize) {
        assert!(place(Step::ZeroFrame(frame)) < place(Step::CleanFrame(frame)));
    }
    // A barrier behind each slice, so that walks find its zeros before it is part of the pool.
    let slices = joined[start.len() - 1..].split(|it| *it == Step::BarrierStore);
    let slices: Vec<_> = slices.map(<[Step]>::len).collect();
    assert_eq!(slices.iter().sum::<usize>(), 2 * 512);
    assert_eq!(slices.last(), Some(&0), "{slices:?}");
    assert!(slices.len() > 30, "{slices:?}");
    assert!(calls > 30, "{calls} calls are too few for slices");

    let left = steps(&mut machine, |hw| {
        let done = pools.remove(hw, ORDINARY)?;
        assert_eq!(done, Progress::Done);
        Ok(())
    });
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
    let mut storage = OwnedStorage::default();
    let (mut machine, mut pools) = small::build::<Configured>(&mut storage);
    let entry = IMAGE_L3 + 9 * 8;
    let page = (ORDINARY + 77 * PAGE) | KERNEL_PAGE;
    pools
        .tables
        .write(&mut machine, entry, page)
        .expect("ordinary");
    let first = pools.add(&mut machine, ORDINARY, PoolKind::Tables, None);
    assert_eq!(first, Ok(Progress::Again));
    // Claimed: no call maps it any more.
    let anew = pools.tables.write(&mut machine, entry + 8, page);
    assert_eq!(anew, Err(Reason::BadTarget));
    let last = loop {
        match pools.add(&mut machine, ORDINARY, PoolKind::Tables, None) {
            Ok(Progress::Again) => {}
            other => break other,
        }
    };
    assert_eq!(last, Err(Reason::InUse));
    pools
        .tables
        .write(&mut machine, entry + 8, page)
        .expect("ordinary");
}
