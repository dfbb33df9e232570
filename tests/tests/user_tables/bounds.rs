// SPDX-License-Identifier: MIT OR Apache-2.0
//! A process has 48 bits of addresses, all of them, and nothing beyond.

use donjon_abi::call::{Process, Reason};
use donjon_core::user_tables::{Fill, LEAST_PAGES, USER_END, UserTables};
use donjon_models::user_tables::storage::OwnedStorage;
use donjon_models::user_tables::{BLOCK, PAGE, World, leaves};

const RAM: u64 = 0x4000_0000;
const ARENA: u64 = 0x8000_0000;
const ARENA_END: u64 = ARENA + LEAST_PAGES * PAGE;
const WHO: Process = Process::new(5, 5);
const BLOCK_OF_USER: u64 = 0x701 | 1 << 6 | 1 << 11 | 1 << 53 | (RAM + BLOCK);
const PAGE_OF_USER: u64 = BLOCK_OF_USER | 1 << 1;

/// Page-aligned addresses beside the ends of 47 and of 48 bits, and whether a user has them.
const PLACES: [(u64, bool); 8] = [
    ((1 << 47) - BLOCK, true),
    (1 << 47, true),
    ((1 << 47) + BLOCK, true),
    ((1 << 48) - BLOCK, true),
    (1 << 48, false),
    ((1 << 48) + BLOCK, false),
    (1 << 63, false),
    (0_u64.wrapping_sub(2 * BLOCK), false),
];

#[test]
fn a_user_has_48_bits() {
    assert_eq!(USER_END, 1 << 48);
    let storage = OwnedStorage::new(2 * BLOCK / PAGE);
    let frames = storage.frames(RAM);
    let user_tables: UserTables<'_> = storage.user_tables(ARENA, 0x1000);
    let hw = &mut World::new((ARENA, ARENA_END));
    user_tables.switch(hw, 0, WHO).expect("a tree");
    let shown = |hw: &mut World| {
        let (root, _) = user_tables.tree(WHO.asid()).expect("a tree");
        leaves(hw, root)
            .0
            .into_iter()
            .map(|(va, leaf)| (va, leaf.size))
    };
    for (place, is_users) in PLACES {
        let expected = if is_users {
            Ok(None)
        } else {
            Err(Reason::BadEntry)
        };
        for (count, first) in [(1, 0), (1, 511), (16, 496)] {
            let va = place + first * PAGE;
            let source = RAM + first * 8;
            for number in 0..count {
                hw.set(source + number * 8, PAGE_OF_USER);
            }
            let filled = user_tables.map(hw, &frames, WHO, Fill { va, source, count });
            assert_eq!(filled, expected, "{va:#x}");
            let pages = (0..count).map(|it| (va + it * PAGE, PAGE));
            let pages: Vec<_> = pages.filter(|_| is_users).collect();
            assert_eq!(shown(hw).collect::<Vec<_>>(), pages, "{va:#x}");
            assert_eq!(
                user_tables.flush(hw, WHO, va, va + count * PAGE),
                va + count * PAGE
            );
            assert_eq!(shown(hw).count(), 0, "{va:#x}");
        }
        let source = RAM + place / BLOCK % 512 * 8;
        hw.set(source, BLOCK_OF_USER);
        let filled = user_tables.map_block(hw, &frames, WHO, place, source);
        let expected = if is_users {
            Ok(None)
        } else {
            Err(Reason::BadEntry)
        };
        assert_eq!(filled, expected, "{place:#x}");
        let blocks: Vec<_> = [(place, BLOCK)].into_iter().filter(|_| is_users).collect();
        assert_eq!(shown(hw).collect::<Vec<_>>(), blocks, "{place:#x}");
        user_tables.clear(hw, WHO);
    }
    assert_eq!(hw.wrong, Vec::<String>::new());
}
