// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a refresh leaves of a page and of a block, by what Linux's descriptor became meanwhile. The
//! table is the contract, typed in by hand.

use core::marker::PhantomData;

use donjon_abi::call::Process;

use donjon_core::checks::{Check, Checks, Configured};
use donjon_core::user_tables::{Fill, LEAST_PAGES, UserTables};
use donjon_models::user_tables::storage::OwnedStorage;
use donjon_models::user_tables::{BLOCK, PAGE, World, leaves};

const RAM: u64 = 0x4000_0000;
const ORDINARY: u64 = RAM + BLOCK;
const ARENA: u64 = 0x8000_0000;
const ARENA_END: u64 = ARENA + LEAST_PAGES * PAGE;
const WHO: Process = Process::new(5, 5);

/// Valid, writable, of ordinary memory, accessed, non-global; EL1 executes nothing.
const WRITABLE: u64 = 0x701 | EL0 | 1 << 11 | 1 << 53 | ORDINARY;
const PAGE_SHAPE: u64 = 1 << 1;
const ATTRIBUTE: u64 = 1 << 2;
const EL0: u64 = 1 << 6;
const READ_ONLY: u64 = 1 << 7;
const ACCESSED: u64 = 1 << 10;
const GUARDED: u64 = 1 << 50;
const DIRTY_BIT_MODIFIER: u64 = 1 << 51;
const CONTIGUOUS: u64 = 1 << 52;
const NO_EL0: u64 = 1 << 54;
const SOFTWARE: u64 = 0xf << 55;

/// What is left of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    All,
    ReadOnly,
    Nothing,
}

/// Cases: the descriptor before, the one that it was changed to then, and what is left.
const CASES: &[(u64, u64, Left)] = &[
    (WRITABLE, 0, Left::All),
    (WRITABLE, READ_ONLY, Left::ReadOnly),
    (WRITABLE, SOFTWARE | READ_ONLY, Left::ReadOnly),
    (
        WRITABLE,
        SOFTWARE | DIRTY_BIT_MODIFIER | CONTIGUOUS,
        Left::All,
    ),
    // Wider.
    (WRITABLE | NO_EL0, NO_EL0, Left::Nothing),
    (WRITABLE | NO_EL0, NO_EL0 | READ_ONLY, Left::Nothing),
    (WRITABLE | GUARDED, GUARDED, Left::Nothing),
    (WRITABLE & !ACCESSED, ACCESSED, Left::Nothing),
    (WRITABLE & !ACCESSED, ACCESSED | READ_ONLY, Left::Nothing),
    (WRITABLE & !EL0, EL0, Left::Nothing),
    (WRITABLE & !EL0, EL0 | READ_ONLY, Left::Nothing),
    // Less for EL0, and more for EL1 under PAN.
    (WRITABLE, EL0, Left::Nothing),
    (WRITABLE, EL0 | READ_ONLY, Left::Nothing),
    // Narrower in something else: a fault takes that over.
    (WRITABLE, NO_EL0, Left::Nothing),
    (WRITABLE, GUARDED | READ_ONLY, Left::Nothing),
    (WRITABLE, ACCESSED, Left::Nothing),
    // Another mapping.
    (WRITABLE, 1, Left::Nothing),
    (WRITABLE, BLOCK << 1, Left::Nothing),
    (WRITABLE, ATTRIBUTE | READ_ONLY, Left::Nothing),
    (WRITABLE, PAGE_SHAPE, Left::Nothing),
];

/// The descriptor that is left at address 0.
fn refreshed<C: Checks>(_: PhantomData<C>, before: u64, changed: u64, page: bool) -> Option<u64> {
    let storage = OwnedStorage::new(2 * BLOCK / PAGE);
    let frames = storage.frames(RAM);
    let user_tables: UserTables<'_, C> = storage.shadows_with(ARENA, 0x1000);
    let hw = &mut World::new((ARENA, ARENA_END));
    let (va, source, count) = (0, RAM, 1);
    hw.set(source, before);
    user_tables.switch(hw, 0, WHO).expect("a tree");
    let refused = if page {
        let filled = user_tables.map(hw, &frames, WHO, Fill { va, source, count });
        filled.expect("room").map(|(_, reason)| reason)
    } else {
        let filled = user_tables.map_block(hw, &frames, WHO, va, source);
        filled.expect("room")
    };
    assert_eq!(refused, None, "{before:#x}");
    hw.set(source, before ^ changed);
    assert!(
        user_tables.refresh(hw, &frames, WHO, true),
        "one call is enough"
    );
    assert_eq!(hw.wrong, Vec::<String>::new());
    let (root, _) = user_tables.tree(WHO.asid()).expect("a tree");
    let (found, _) = leaves(hw, root);
    let shown = found.get(&0).map(|leaf| leaf.descriptor);
    let cached: Vec<u64> = hw.cached().map(|(_, _, leaf, _)| leaf).collect();
    assert_eq!(cached, Vec::from_iter(shown), "{before:#x} ^ {changed:#x}");
    shown
}

#[test]
fn no_right_appears_by_refresh() {
    for page in [true, false] {
        let shape = if page { PAGE_SHAPE } else { 0 };
        for (before, changed, left) in CASES {
            let before = before | shape;
            let expected = match left {
                Left::All => Some(before),
                Left::ReadOnly => Some(before | READ_ONLY),
                Left::Nothing => None,
            };
            let shown = refreshed(PhantomData::<Configured>, before, *changed, page);
            assert_eq!(shown, expected, "{before:#x} ^ {changed:#x}");
        }
    }
}

#[test]
fn without_the_check_rights_appear() {
    struct Weakened;
    impl Checks for Weakened {
        const REFRESH: Check = Check::LeftOut;
    }
    for page in [true, false] {
        let before = WRITABLE | NO_EL0 | if page { PAGE_SHAPE } else { 0 };
        for changed in [NO_EL0, NO_EL0 | READ_ONLY, NO_EL0 | EL0] {
            let shown = refreshed(PhantomData::<Weakened>, before, changed, page);
            assert_eq!(shown, Some(before ^ changed), "{changed:#x}");
        }
    }
}
