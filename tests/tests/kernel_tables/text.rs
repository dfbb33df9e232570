// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which pages become text, which frames they get, and where text is found.

use donjon_abi::call::Reason;
use donjon_core::checks::{Check, Checks, Configured};
use donjon_core::kernel_tables::{PoolKind, Seal};
use donjon_core::pools::Pools;
use donjon_core::pools::Progress;
use donjon_core::translation::frames::FrameType;

use donjon_models::space::memory::{PAGE, SmallMachine};
use donjon_models::space::small::{
    self, BLOCK, DATA, IMAGE, IMAGE_L2, IMAGE_L3, KERNEL_PAGE, LINEAR, ORDINARY, OwnedStorage, RAM,
    TEXT_POOL,
};

const READ_ONLY: u64 = 1 << 7;
/// A page of the image that is free for a mapping.
const FREE: u64 = 8;

/// Maps a page of ordinary memory there.
fn map(hw: &mut SmallMachine, pools: &mut Pools<'_>, page: u64, value: u64) -> u64 {
    let written = pools.tables.write(hw, IMAGE_L3 + page * 8, value);
    written.expect("ordinary");
    IMAGE + page * PAGE
}

#[test]
fn nothing_but_a_writable_page_of_the_upper_half_becomes_text() {
    let mut storage = OwnedStorage::default();
    let (mut hw, mut pools) = small::build::<Configured>(&mut storage);
    let page = map(&mut hw, &mut pools, FREE, DATA | KERNEL_PAGE);
    let constant = map(
        &mut hw,
        &mut pools,
        FREE + 1,
        DATA | KERNEL_PAGE | READ_ONLY,
    );
    let block = ORDINARY | KERNEL_PAGE & !0b10;
    pools
        .tables
        .write(&mut hw, IMAGE_L2 + 8, block)
        .expect("ordinary");
    for (va, what) in [
        (LINEAR + (DATA - RAM), "a page of the linear map"),
        (page + 4, "an address in a page"),
        (constant, "a page that is not writable"),
        (IMAGE + BLOCK, "a block"),
        (IMAGE, "kernel text"),
        (IMAGE + (FREE + 2) * PAGE, "nothing"),
    ] {
        let begun = pools.tables.seal_begin(&mut hw, va);
        assert_eq!(begun, Err(Reason::NotText), "{what}");
    }
    let seal = pools.tables.seal_begin(&mut hw, page).expect("room");
    assert_eq!(seal.address(), page);
    pools.tables.seal_finish(&mut hw, seal).expect("unchanged");
    let again = pools.tables.seal_begin(&mut hw, page);
    assert_eq!(again, Err(Reason::NotText), "what is text");
}

#[test]
fn addresses_outside_the_outer_view_lead_to_no_text() {
    let mut storage = OwnedStorage::default();
    let (hw, pools) = small::build::<Configured>(&mut storage);
    let found = |va| pools.tables.kernel_leaf(&hw, va).map(|it| it.page);
    assert_eq!(found(IMAGE + 12), Some(small::TEXT));
    let in_block = LINEAR + 3 * BLOCK + 5 * PAGE + 12;
    assert_eq!(found(in_block), Some(ORDINARY + 5 * PAGE));
    // Addresses with equal indices in the root: a user's address, and one of the inner half.
    assert_eq!(found(IMAGE & !(u64::MAX << 47)), None);
    assert_eq!(found(IMAGE & !(1 << 47)), None);
}

#[test]
fn each_frame_of_each_block_is_given_once_and_again_when_it_is_back() {
    let mut storage = OwnedStorage::default();
    let (mut hw, mut pools) = small::build::<Configured>(&mut storage);
    pools
        .tables
        .import_pool(ORDINARY, PoolKind::Text)
        .expect("ordinary");
    let page = map(&mut hw, &mut pools, FREE, DATA | KERNEL_PAGE);
    let mut seals: Vec<Seal> = (0..1024)
        .map(|_| pools.tables.seal_begin(&mut hw, page).expect("room"))
        .collect();
    let mut frames: Vec<u64> = seals.iter().map(|it| it.to).collect();
    let expected = [TEXT_POOL, ORDINARY].map(|block| (0..512).map(move |it| block + it * PAGE));
    frames.sort_unstable();
    assert!(frames.into_iter().eq(expected.into_iter().flatten()));
    assert_eq!(pools.tables.seal_begin(&mut hw, page), Err(Reason::NoRoom));
    for index in [700, 7] {
        let seal = seals.swap_remove(index);
        let frame = seal.to;
        pools.tables.seal_abort(seal);
        let again = pools
            .tables
            .seal_begin(&mut hw, page)
            .expect("the frame is back");
        assert_eq!(again.to, frame);
        assert_eq!(pools.tables.seal_begin(&mut hw, page), Err(Reason::NoRoom));
    }
}

#[test]
fn a_table_with_text_in_it_is_not_released() {
    let mut storage = OwnedStorage::default();
    let (mut hw, mut pools) = small::build::<Configured>(&mut storage);
    let page = map(&mut hw, &mut pools, FREE, DATA | KERNEL_PAGE);
    let seal = pools.tables.seal_begin(&mut hw, page).expect("room");
    pools.tables.seal_finish(&mut hw, seal).expect("unchanged");
    pools.tables.write(&mut hw, IMAGE_L2, 0).expect("unlinked");
    assert_eq!(pools.tables.release(&mut hw, IMAGE_L3), Err(Reason::InUse));
    pools
        .tables
        .write(&mut hw, IMAGE_L3 + FREE * 8, 0)
        .expect("cleared");
    assert_eq!(pools.tables.release(&mut hw, IMAGE_L3), Ok(()));
}

/// Begins to seal a page, clears its entry and has its frame become private memory. Whether the
/// seal may go on.
fn resume_from_private<C: Checks>() -> Result<(), Reason> {
    let mut storage = OwnedStorage::default();
    let (mut hw, mut pools) = small::build::<C>(&mut storage);
    let entry = IMAGE_L3 + FREE * 8;
    pools
        .tables
        .write(&mut hw, entry, ORDINARY | KERNEL_PAGE)
        .expect("ordinary");
    let va = IMAGE + FREE * PAGE;
    let seal = pools.tables.seal_begin(&mut hw, va).expect("room");
    let to = seal.to;
    let seal = pools.tables.seal_resume(&hw, seal).expect("unchanged");
    pools.tables.write(&mut hw, entry, 0).expect("cleared");
    while pools.add(&mut hw, ORDINARY, PoolKind::Private, None) == Ok(Progress::Again) {}
    assert_eq!(
        pools.tables.frames().get(ORDINARY),
        Some(FrameType::Private)
    );
    let resumed = pools.tables.seal_resume(&hw, seal).map(drop);
    let back = pools.tables.frames().get(to) == Some(FrameType::TextPoolFree);
    assert_eq!(back, resumed.is_err());
    resumed
}

#[test]
#[cfg_attr(miri, ignore = "zeroes megabytes")]
fn what_is_private_by_now_becomes_no_text() {
    struct Weakened;
    impl Checks for Weakened {
        const SOURCE: Check = Check::LeftOut;
    }
    assert_eq!(resume_from_private::<Configured>(), Err(Reason::InUse));
    assert_eq!(resume_from_private::<Weakened>(), Ok(()));
}

#[test]
fn a_seal_whose_entry_has_changed_does_not_go_on() {
    let mut storage = OwnedStorage::default();
    let (mut hw, mut pools) = small::build::<Configured>(&mut storage);
    let page = map(&mut hw, &mut pools, FREE, DATA | KERNEL_PAGE);
    let seal = pools.tables.seal_begin(&mut hw, page).expect("room");
    // A search for mappings of claimed frames takes it for none of those.
    let frame = pools.tables.frames().get(seal.to);
    assert_eq!(frame, Some(FrameType::ModuleText));
    pools
        .tables
        .write(&mut hw, IMAGE_L3 + FREE * 8, 0)
        .expect("cleared");
    assert_eq!(pools.tables.seal_resume(&hw, seal), Err(Reason::InUse));
}
