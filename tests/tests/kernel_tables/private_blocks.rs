// SPDX-License-Identifier: MIT OR Apache-2.0
//! Blocks that become private memory together, and that go back.

use donjon_abi::call::Reason;
use donjon_core::checks::Configured;
use donjon_core::kernel_tables::PoolKind;
use donjon_core::pools::Pools;
use donjon_core::pools::Progress;
use donjon_core::translation::Step;
use donjon_core::translation::frames::FrameType;
use donjon_models::space::memory::{PAGE, SmallMachine};
use donjon_models::space::small::{self, BLOCK, KERNEL_PAGE, LINEAR_L2, ORDINARY, OwnedStorage};

const BLOCKS: [u64; 3] = [ORDINARY, ORDINARY + 2 * BLOCK, ORDINARY + 3 * BLOCK];
const KIND: PoolKind = PoolKind::Private;

fn entry_of(block: u64) -> u64 {
    LINEAR_L2 + (block - small::RAM) / BLOCK * 8
}

/// Takes all of [`BLOCKS`] together. The steps, and in how many calls.
fn take(
    machine: &mut SmallMachine,
    pools: &mut Pools<'_>,
) -> (Result<Progress, Reason>, Vec<Step>, u64) {
    machine.trace = Some(Vec::new());
    let [first, second, last] = BLOCKS;
    pools.add_waiting(machine, first).expect("ordinary");
    pools.add_waiting(machine, second).expect("ordinary");
    let mut calls = 2;
    let answer = loop {
        calls += 1;
        match pools.add(machine, last, KIND, None) {
            Ok(Progress::Again) => {}
            other => break other,
        }
    };
    (answer, machine.trace.take().unwrap_or_default(), calls)
}

fn types(pools: &Pools<'_>, block: u64) -> Option<FrameType> {
    let first = pools.tables.frames().get(block);
    let mut pages = (block..block + BLOCK).step_by(PAGE as usize);
    assert!(pages.all(|page| pools.tables.frames().get(page) == first));
    first
}

#[test]
#[cfg_attr(miri, ignore = "zeroes megabytes")]
fn blocks_that_wait_are_searched_for_once_and_hidden_before_they_are_zeroed() {
    let mut storage = OwnedStorage::default();
    let (mut machine, mut pools) = small::build::<Configured>(&mut storage);
    let (answer, steps, calls) = take(&mut machine, &mut pools);
    assert_eq!(answer, Ok(Progress::Done));
    let hidden = BLOCKS.map(|block| Step::Write {
        entry: entry_of(block),
        value: 0,
    });
    let everything = [Step::BarrierStore, Step::InvalidateAll, Step::Barrier];
    // A barrier for each claim comes first.
    let expected: Vec<Step> = [Step::Barrier; 3]
        .into_iter()
        .chain(hidden)
        .chain(everything)
        .collect();
    assert_eq!(steps[..expected.len()], expected);
    let zeroed = steps[expected.len()..].iter();
    let zeroed: Vec<u64> = zeroed
        .filter_map(|step| match step {
            Step::ZeroFrame(frame) => Some(*frame),
            Step::BarrierStore => None,
            other => panic!("{other:?}"),
        })
        .collect();
    let all = BLOCKS
        .iter()
        .flat_map(|block| (*block..block + BLOCK).step_by(PAGE as usize));
    assert!(zeroed.iter().copied().eq(all));
    assert!(calls > 3 * 8, "{calls} calls are too few for slices");
    assert!(
        BLOCKS
            .iter()
            .all(|it| types(&pools, *it) == Some(FrameType::Private))
    );
    assert_eq!(pools.private().1.free(), 3 * 512);
}

#[test]
fn one_that_is_mapped_elsewhere_stops_all() {
    let mut storage = OwnedStorage::default();
    let (mut machine, mut pools) = small::build::<Configured>(&mut storage);
    let entry = small::IMAGE_L3 + 9 * 8;
    let page = (BLOCKS[1] + 77 * PAGE) | KERNEL_PAGE;
    pools
        .tables
        .write(&mut machine, entry, page)
        .expect("ordinary");
    let before = BLOCKS.map(|block| machine.frames.read(entry_of(block)));
    let (answer, _, calls) = take(&mut machine, &mut pools);
    assert_eq!(answer, Err(Reason::InUse));
    // One claims the last, one withdraws, four search, two make ordinary again.
    assert_eq!(calls, 2 + 8);
    assert!(
        BLOCKS
            .iter()
            .all(|it| types(&pools, *it) == Some(FrameType::Ordinary))
    );
    assert_eq!(
        BLOCKS.map(|block| machine.frames.read(entry_of(block))),
        before
    );
    assert_eq!(pools.private().1.total(), 0);
    // Each of them can be offered again.
    pools.tables.write(&mut machine, entry, 0).expect("clear");
    if !cfg!(miri) {
        assert_eq!(take(&mut machine, &mut pools).0, Ok(Progress::Done));
    }
}

#[test]
fn while_blocks_wait_others_do_not_come_between() {
    let mut storage = OwnedStorage::default();
    let (mut machine, mut pools) = small::build::<Configured>(&mut storage);
    let hw = &mut machine;
    let [first, second, last] = BLOCKS;
    pools.add_waiting(hw, first).expect("ordinary");
    assert_eq!(pools.add_waiting(hw, first), Err(Reason::WrongFrame));
    let tables = pools.add(hw, last, PoolKind::Tables, None);
    assert_eq!(tables, Err(Reason::InUse));
    // What cannot be claimed changes nothing for those that wait.
    let pool = pools.add(hw, small::POOL, KIND, None);
    assert_eq!(pool, Err(Reason::WrongFrame));
    pools.add_waiting(hw, second).expect("ordinary");
    // The last that waits may be the one that goes on; then none is added.
    assert_eq!(pools.add(hw, second, KIND, None), Ok(Progress::Again));
    assert_eq!(pools.add_waiting(hw, last), Err(Reason::InUse));
    assert_eq!(pools.add(hw, first, KIND, None), Err(Reason::InUse));
}

#[test]
#[cfg_attr(miri, ignore = "zeroes megabytes")]
fn what_goes_back_is_cleaned_before_it_is_shown() {
    let mut storage = OwnedStorage::default();
    let (mut machine, mut pools) = small::build::<Configured>(&mut storage);
    let block = BLOCKS[1];
    let before = machine.frames.read(entry_of(block));
    assert_eq!(take(&mut machine, &mut pools).0, Ok(Progress::Done));
    machine.trace = Some(Vec::new());
    let mut calls = 1;
    while pools.remove(&mut machine, block) == Ok(Progress::Again) {
        calls += 1;
        assert_eq!(types(&pools, block), Some(FrameType::Claimed));
        let page = block | KERNEL_PAGE;
        let mapped = pools
            .tables
            .write(&mut machine, small::IMAGE_L3 + 9 * 8, page);
        assert_eq!(mapped, Err(Reason::BadTarget));
        let another = pools.remove(&mut machine, BLOCKS[0]);
        let added = pools.add(&mut machine, block, KIND, None);
        assert_eq!((another, added), (Err(Reason::InUse), Err(Reason::InUse)));
    }
    let cleaned = (block..block + BLOCK)
        .step_by(PAGE as usize)
        .map(Step::CleanFrame);
    let shown = [
        Step::BarrierStore,
        Step::InvalidateAll,
        Step::Barrier,
        Step::Write {
            entry: entry_of(block),
            value: before,
        },
        Step::Barrier,
    ];
    assert!(
        machine
            .trace
            .take()
            .unwrap_or_default()
            .into_iter()
            .eq(cleaned.chain(shown))
    );
    assert!(calls > 16, "{calls} calls are too few for slices");
    assert_eq!(types(&pools, block), Some(FrameType::Ordinary));
    assert_eq!(pools.private().1.total(), 2 * 512);
}

#[test]
#[cfg_attr(miri, ignore = "zeroes megabytes")]
fn what_the_linear_map_cannot_show_stays_private() {
    let mut storage = OwnedStorage::default();
    let (mut machine, mut pools) = small::build::<Configured>(&mut storage);
    let [block, ..] = BLOCKS;
    assert_eq!(take(&mut machine, &mut pools).0, Ok(Progress::Done));
    assert_eq!(pools.remove(&mut machine, block), Ok(Progress::Again));
    let other = (ORDINARY + BLOCK) | KERNEL_PAGE & !0b10;
    pools
        .tables
        .write(&mut machine, entry_of(block), other)
        .expect("ordinary");
    let last = loop {
        match pools.remove(&mut machine, block) {
            Ok(Progress::Again) => {}
            other => break other,
        }
    };
    assert_eq!(last, Err(Reason::WrongFrame));
    assert_eq!(types(&pools, block), Some(FrameType::Private));
    assert_eq!(pools.private().1.free(), 3 * 512);
}
