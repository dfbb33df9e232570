// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the hand-over may import.

use donjon_abi::call::Reason;
use donjon_abi::layout::BLOCK_SIZE;
use donjon_core::checks::{Check, Checks, Configured};
use donjon_core::kernel_tables::PoolKind;
use donjon_core::pools::Progress;
use donjon_core::range::Range;
use donjon_core::translation::Step;
use donjon_core::translation::frames::FrameType;
use donjon_models::space::memory::PAGE;
use donjon_models::space::small::{
    self, DATA, IMAGE, IMAGE_L1, IMAGE_L2, IMAGE_L3, ORDINARY, OwnedStorage, POOL,
};

/// A free frame of the pool.
const SPARE: u64 = POOL + small::TAKEN * PAGE;

#[test]
fn a_pool_is_a_block_of_ordinary_frames() {
    let mut storage = OwnedStorage::default();
    let (_, mut pools) = small::build::<Configured>(&mut storage);
    for kind in [PoolKind::Tables, PoolKind::Text] {
        let odd = pools.tables.import_pool(ORDINARY + PAGE, kind);
        assert_eq!(odd, Err(Reason::BadMachine));
        for frame in [0, 1, 511] {
            let address = ORDINARY + frame * PAGE;
            pools
                .tables
                .frames_mut()
                .set(address, FrameType::KernelReadOnly);
            let imported = pools.tables.import_pool(ORDINARY, kind);
            assert_eq!(imported, Err(Reason::BadMachine), "frame {frame}");
            pools.tables.frames_mut().set(address, FrameType::Ordinary);
        }
    }
    assert_eq!(pools.tables.import_pool(ORDINARY, PoolKind::Tables), Ok(()));
}

#[test]
fn a_table_is_a_free_frame_below_another_table() {
    let mut storage = OwnedStorage::default();
    let (_, mut pools) = small::build::<Configured>(&mut storage);
    let entry = IMAGE_L2 + 8;
    for (frame, parent) in [
        (IMAGE_L3, entry),
        (DATA, entry),
        (SPARE + 8, entry),
        (SPARE, IMAGE_L3 + 8),
        (SPARE, DATA),
    ] {
        let imported = pools.tables.import_table(frame, parent, IMAGE);
        assert_eq!(imported, Err(Reason::BadMachine), "{frame:#x} {parent:#x}");
    }
    assert_eq!(pools.tables.import_table(SPARE, entry, IMAGE), Ok(()));
}

#[test]
fn imported_tables_keep_the_one_above() {
    let mut storage = OwnedStorage::default();
    let (mut hw, mut pools) = small::build::<Configured>(&mut storage);
    pools.tables.write(&mut hw, IMAGE_L1, 0).expect("unlinked");
    assert_eq!(pools.tables.release(&mut hw, IMAGE_L2), Err(Reason::InUse));
    pools.tables.write(&mut hw, IMAGE_L2, 0).expect("unlinked");
    assert_eq!(pools.tables.release(&mut hw, IMAGE_L2), Ok(()));
}

#[test]
fn the_import_ends_with_an_invalidation_of_everything() {
    let mut storage = OwnedStorage::default();
    let (mut hw, mut pools) = small::build::<Configured>(&mut storage);
    hw.trace = Some(Vec::new());
    pools.tables.finish_import(&mut hw);
    let everything = vec![Step::BarrierStore, Step::InvalidateAll, Step::Barrier];
    assert_eq!(hw.trace, Some(everything));
}

#[test]
fn pools_come_from_the_reserve_alone() {
    for kind in [PoolKind::Tables, PoolKind::Text] {
        let mut storage = OwnedStorage::default();
        let (_, mut pools) = small::build::<Configured>(&mut storage);
        pools.tables.set_reserve(reserve(ORDINARY + BLOCK_SIZE));
        assert_eq!(
            pools.tables.import_pool(ORDINARY, kind),
            Err(Reason::Reachable)
        );
        pools.tables.set_reserve(reserve(ORDINARY));
        assert_eq!(pools.tables.import_pool(ORDINARY, kind), Ok(()));
    }
}

#[test]
fn memory_that_devices_reach_joins_no_pool() {
    struct Weakened;
    impl Checks for Weakened {
        const RESERVE: Check = Check::LeftOut;
    }
    fn added<C: Checks>(start: u64, kind: PoolKind) -> Result<Progress, Reason> {
        let mut storage = OwnedStorage::default();
        let (mut hw, mut pools) = small::build::<C>(&mut storage);
        pools.tables.set_reserve(reserve(start));
        loop {
            match pools.add(&mut hw, ORDINARY, kind, None) {
                Ok(Progress::Again) => {}
                end => return end,
            }
        }
    }
    for kind in [PoolKind::Tables, PoolKind::Text, PoolKind::Private] {
        let beside = ORDINARY + BLOCK_SIZE;
        let refused = added::<Configured>(beside, kind);
        assert_eq!(refused, Err(Reason::Reachable), "{kind:?}");
        let inside = added::<Configured>(ORDINARY, kind);
        assert_eq!(inside, Ok(Progress::Done), "{kind:?}");
        let without = added::<Weakened>(beside, kind);
        assert_eq!(without, Ok(Progress::Done), "{kind:?}");
    }
}

/// A reserve of one block.
fn reserve(start: u64) -> Range {
    Range::with_size(start, BLOCK_SIZE).expect("a block")
}
