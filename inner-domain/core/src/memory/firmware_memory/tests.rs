// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests: maps as firmware makes them, and maps that contradict themselves.

use super::*;
use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

const CONVENTIONAL: u32 = 7;
const RESERVED: u32 = 0;
const RUNTIME: u64 = 1 << 63;

fn region(kind: u32, start: u64, pages: u64) -> Region {
    Region {
        kind,
        attributes: WRITE_BACK,
        start,
        pages,
    }
}

fn pieces(map: &[Region]) -> Vec<(u64, u64)> {
    ram(map).map(|it| (it.start(), it.end())).collect()
}

#[test]
fn what_the_loader_and_the_boot_services_used_is_free() {
    let map: Vec<_> = (0..17u32)
        .map(|kind| region(kind, u64::from(kind) << 20, 1))
        .collect();
    let found: Vec<_> = ram(&map).map(|it| it.start() >> 20).collect();
    assert_eq!(found, [1, 2, 3, 4, 7, 9]);
    assert!(pieces(&[region(0x7000_0000, 0, 16)]).is_empty());
    assert!(pieces(&[region(u32::MAX, 0, 16)]).is_empty());
}

#[test]
fn memory_of_another_nature_is_not_ram() {
    let with = |attributes| Region {
        attributes,
        ..region(CONVENTIONAL, 0x4000_0000, 16)
    };
    // Uncached alone.
    assert!(pieces(&[with(1)]).is_empty());
    for bit in [15, 18, 20, 63] {
        assert!(pieces(&[with(WRITE_BACK | 1 << bit)]).is_empty(), "{bit}");
    }
    // Protection that the hardware can do is no reason.
    let protections = 1 << 12 | 1 << 13 | 1 << 14 | 1 << 17;
    assert_eq!(pieces(&[with(0xf | protections)]).len(), 1);
}

#[test]
fn neighbours_in_any_order_are_one_piece() {
    let map = [
        region(4, 0x4020_0000, 0x200),
        region(CONVENTIONAL, 0x8000_0000, 1),
        region(CONVENTIONAL, 0x4000_0000, 0x200),
        region(2, 0x4010_0000, 0x100),
    ];
    assert_eq!(
        pieces(&map),
        [(0x4000_0000, 0x4040_0000), (0x8000_0000, 0x8000_1000)]
    );
}

#[test]
fn what_two_entries_disagree_about_is_not_ram() {
    let free = region(CONVENTIONAL, 0x1_0000, 0x10);
    let hole = region(RESERVED, 0x1_4000, 2);
    let runtime = Region {
        attributes: WRITE_BACK | RUNTIME,
        ..region(CONVENTIONAL, 0x1_8000, 1)
    };
    let expected = [
        (0x1_0000, 0x1_4000),
        (0x1_6000, 0x1_8000),
        (0x1_9000, 0x2_0000),
    ];
    assert_eq!(pieces(&[free, hole, runtime]), expected);
    assert_eq!(pieces(&[runtime, free, hole, free]), expected);
}

#[test]
fn parts_of_pages_are_not_ram() {
    let odd = region(CONVENTIONAL, 0x1_0800, 4);
    assert_eq!(pieces(&[odd]), [(0x1_1000, 0x1_4000)]);
    let free = region(CONVENTIONAL, 0x1_0000, 4);
    let odd = region(RESERVED, 0x1_1800, 1);
    assert_eq!(
        pieces(&[free, odd]),
        [(0x1_0000, 0x1_1000), (0x1_3000, 0x1_4000)]
    );
}

#[test]
fn sizes_that_wrap_give_no_ram_and_take_all_of_it() {
    let free = region(CONVENTIONAL, 0x1_0000, 4);
    assert!(pieces(&[region(CONVENTIONAL, 0x1000, u64::MAX)]).is_empty());
    assert!(pieces(&[region(CONVENTIONAL, u64::MAX - 1, 1)]).is_empty());
    assert_eq!(
        pieces(&[free, region(RESERVED, 0x1_2000, u64::MAX)]),
        [(0x1_0000, 0x1_2000)]
    );
    assert!(pieces(&[free, region(RESERVED, 0, 1 << 52)]).is_empty());
    assert_eq!(pieces(&[free, region(RESERVED, 0x1_2000, 0)]).len(), 1);
    assert!(pieces(&[]).is_empty());
}

#[test]
fn the_largest_pieces_keep_their_order() {
    let ranges: Vec<_> = [(0u64, 4u64), (10, 1), (20, 9), (40, 2), (50, 3)]
        .into_iter()
        .filter_map(|(start, size)| Range::with_size(start, size))
        .collect();
    let (found, others) = largest::<3>(ranges.iter().copied());
    let found: Vec<_> = found.map(Range::start).collect();
    assert_eq!((found, others), (vec![0, 20, 50], 3));
    let (found, others) = largest::<8>(ranges.iter().copied());
    assert_eq!((found.collect::<Vec<_>>(), others), (ranges.clone(), 0));
    let (found, others) = largest::<0>(ranges);
    assert_eq!((found.count(), others), (0, 19));
}

/// Entries around a few pages, some of them not at a page's edge, and a few that wrap.
fn regions() -> impl Strategy<Value = Vec<Region>> {
    let start = prop_oneof![
        20 => (0..40u64).prop_map(|page| page * PAGE_SIZE),
        3 => 0..40 * PAGE_SIZE,
        1 => Just(u64::MAX - PAGE_SIZE),
    ];
    let pages = prop_oneof![20 => 0..12u64, 1 => Just(u64::MAX), 1 => Just(1u64 << 52)];
    let attributes =
        prop_oneof![6 => Just(WRITE_BACK), 1 => Just(0), 1 => Just(WRITE_BACK | RUNTIME)];
    let one =
        (0..16u32, attributes, start, pages).prop_map(|(kind, attributes, start, pages)| Region {
            kind,
            attributes,
            start,
            pages,
        });
    proptest::collection::vec(one, 0..12)
}

/// Whether an entry has a byte of the page, and whether it has all of it; by 128-bit arithmetic.
fn covers(region: &Region, page: u64) -> (bool, bool) {
    let (start, size) = (u128::from(region.start), u128::from(PAGE_SIZE));
    let end = start + u128::from(region.pages) * size;
    let page = u128::from(page);
    (
        start < page + size && page < end && start < end,
        start <= page && page + size <= end && end < 1 << 64,
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 16 } else { 2048 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_page_is_ram_if_it_is_free_memory_and_nothing_else(map in regions()) {
        let found: Vec<_> = ram(&map).collect();
        for pair in found.windows(2) {
            prop_assert!(pair[0].end() < pair[1].start());
        }
        for page in (0..64).map(|it| it * PAGE_SIZE) {
            let free = map.iter().any(|it| it.is_free() && covers(it, page).1);
            let taken = map.iter().any(|it| !it.is_free() && covers(it, page).0);
            let is_ram = found.iter().any(|it| it.contains(page));
            // Two parts of a page are not joined, as no entry has all of it.
            prop_assert_eq!(is_ram, free && !taken, "page {:#x}", page);
        }
        for range in found {
            prop_assert_eq!((range.start() | range.end()) % PAGE_SIZE, 0);
        }
    }
}
