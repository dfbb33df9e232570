// SPDX-License-Identifier: MIT OR Apache-2.0
//! What protection leaves: all that was there, read-only, and nothing writable in a TLB.

use donjon_abi::call::Process;
use donjon_core::user_tables::{Fill, LEAST_PAGES, UserTables};
use donjon_models::user_tables::storage::OwnedStorage;
use donjon_models::user_tables::{BLOCK, PAGE, World, leaves};

const RAM: u64 = 0x4000_0000;
const SOURCE: u64 = RAM;
const FRAMES: u64 = RAM + BLOCK;
const ARENA: u64 = 0x8000_0000;
const TABLES: u64 = LEAST_PAGES + 600;
const WHO: Process = Process::new(5, 5);

/// Valid, of ordinary memory, accessed, non-global, for EL0; nothing is executed.
const BLOCK_OF_USER: u64 = 0x701 | 1 << 6 | 1 << 11 | 1 << 53 | 1 << 54;
const PAGE_OF_USER: u64 = BLOCK_OF_USER | 1 << 1;
const READ_ONLY: u64 = 1 << 7;

/// Maps all entries of `tables` tables, each second one read-only, and a block behind them.
fn filled(user_tables: &UserTables<'_>, storage: &OwnedStorage, hw: &mut World, tables: u64) {
    let frames = storage.frames(RAM);
    user_tables.switch(hw, 0, WHO).expect("a tree");
    for index in 0..512 {
        let right = if index % 2 == 0 { 0 } else { READ_ONLY };
        hw.set(
            SOURCE + index * 8,
            PAGE_OF_USER | right | (FRAMES + index * PAGE),
        );
    }
    for table in 0..tables {
        for first in (0..512).step_by(64) {
            let (va, source) = (table * BLOCK + first * PAGE, SOURCE + first * 8);
            let fill = Fill {
                va,
                source,
                count: 64,
            };
            assert_eq!(user_tables.map(hw, &frames, WHO, fill), Ok(None));
        }
    }
    let (va, source) = (tables * BLOCK, SOURCE + tables * 8);
    hw.set(source, BLOCK_OF_USER | FRAMES);
    assert_eq!(
        user_tables.map_block(hw, &frames, WHO, va, source),
        Ok(None)
    );
}

#[test]
fn all_is_read_only_and_nothing_is_lost() {
    let storage = OwnedStorage::new(2 * BLOCK / PAGE);
    let user_tables: UserTables<'_> = storage.shadows_with(ARENA, 0x1000);
    let hw = &mut World::new((ARENA, ARENA + LEAST_PAGES * PAGE));
    filled(&user_tables, &storage, hw, 1);
    let (root, _) = user_tables.tree(WHO.asid()).expect("a tree");
    let (before, _) = leaves(hw, root);
    assert_eq!(before.len(), 513);
    assert!(hw.cached().any(|(_, _, leaf, _)| leaf & READ_ONLY == 0));

    assert!(user_tables.protect(hw, WHO, true), "one call is enough");
    let (after, _) = leaves(hw, root);
    assert!(after.keys().eq(before.keys()));
    for (va, leaf) in &after {
        assert_eq!(
            leaf.descriptor,
            before[va].descriptor | READ_ONLY,
            "{va:#x}"
        );
    }
    assert!(hw.cached().all(|(_, _, leaf, _)| leaf & READ_ONLY != 0));
    assert_eq!(hw.wrong, Vec::<String>::new());
}

#[test]
fn a_large_process_takes_several_calls() {
    let storage = OwnedStorage::new(2 * BLOCK / PAGE);
    let user_tables: UserTables<'_> = storage.shadows_with(ARENA, 0x1000);
    let hw = &mut World::new((ARENA, ARENA + TABLES * PAGE));
    filled(&user_tables, &storage, hw, 24);
    let mut calls = 1;
    while !user_tables.protect(hw, WHO, calls == 1) {
        calls += 1;
    }
    // Three tables of 512 entries in each: 193 for each, up to 400.
    assert_eq!(calls, 9);
    let (root, _) = user_tables.tree(WHO.asid()).expect("a tree");
    let (found, _) = leaves(hw, root);
    assert!(found.values().all(|it| it.descriptor & READ_ONLY != 0));
    assert_eq!(found.len(), 24 * 512 + 1);
}

#[test]
fn what_is_written_again_is_mapped_again() {
    let storage = OwnedStorage::new(2 * BLOCK / PAGE);
    let frames = storage.frames(RAM);
    let user_tables: UserTables<'_> = storage.shadows_with(ARENA, 0x1000);
    let hw = &mut World::new((ARENA, ARENA + LEAST_PAGES * PAGE));
    filled(&user_tables, &storage, hw, 1);
    assert!(user_tables.protect(hw, WHO, true));
    let (va, source, count) = (0, SOURCE, 1);
    let fill = Fill { va, source, count };
    assert_eq!(user_tables.map(hw, &frames, WHO, fill), Ok(None));
    let (root, _) = user_tables.tree(WHO.asid()).expect("a tree");
    assert_eq!(leaves(hw, root).0[&0].descriptor & READ_ONLY, 0);
    // A second protection finds what the first one did not have to.
    assert!(user_tables.protect(hw, WHO, true));
    assert_ne!(leaves(hw, root).0[&0].descriptor & READ_ONLY, 0);
    assert_eq!(hw.wrong, Vec::<String>::new());
}
