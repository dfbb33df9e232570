// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::vec::Vec;

fn range(start: u64, end: u64) -> Range {
    Range::new(start, end).expect("not empty")
}

fn list(ranges: &[(u64, u64)]) -> DeviceList {
    let mut list = DeviceList::new();
    for (start, end) in ranges {
        list.add(range(*start, *end)).expect("room");
    }
    list
}

fn contents(list: &DeviceList) -> Vec<(u64, u64)> {
    list.iter().map(|it| (it.start, it.end)).collect()
}

#[test]
fn neighbours_become_one_range_of_whole_pages() {
    let list = list(&[
        (0xa00_0200, 0xa00_0400),
        (0x901_0000, 0x901_1000),
        (0xa00_1000, 0xa00_1200),
        (0xa00_0000, 0xa00_0200),
        (0x900_0000, 0x900_1000),
    ]);
    assert_eq!(
        contents(&list),
        [
            (0x900_0000, 0x900_1000),
            (0x901_0000, 0x901_1000),
            (0xa00_0000, 0xa00_2000)
        ]
    );
    assert_eq!(DeviceList::from_banks(&list.banks()), Ok(list));
}

#[test]
fn a_page_that_is_taken_out_splits_its_range() {
    let mut list = list(&[(0x1000, 0x8000)]);
    list.remove(range(0x3018, 0x3020)).expect("room");
    assert_eq!(contents(&list), [(0x1000, 0x3000), (0x4000, 0x8000)]);
    assert!(list.encloses(range(0x4000, 0x8000)));
    assert!(!list.encloses(range(0x2000, 0x5000)));
}

#[test]
fn more_pieces_than_fit_are_an_error_and_change_nothing() {
    let mut list = DeviceList::new();
    for piece in 0..MAX_DEVICES as u64 {
        let start = piece * 0x4000;
        list.add(range(start, start + 0x3000)).expect("room");
    }
    let before = list;
    let address = 0x100_0000;
    assert_eq!(
        list.add(range(address, address + 1)),
        Err(TooManyDevices { address })
    );
    assert!(list.remove(range(0x1000, 0x2000)).is_err());
    assert_eq!(list, before);
    list.add(range(0, 0x100_0000)).expect("it swallows others");
    assert_eq!(contents(&list), [(0, 0x100_0000)]);
}

#[test]
fn what_cannot_be_addressed_is_left_out() {
    let end = 1 << PHYSICAL_ADDRESS_BITS;
    let list = list(&[(end - 0x1000, u64::MAX), (end, end + 0x1000)]);
    assert_eq!(contents(&list), [(end - 0x1000, end)]);
}

#[test]
fn windows_translate_what_lies_in_them() {
    // The peripherals of a Raspberry Pi 3.
    let window = Window {
        child: 0x7e00_0000,
        parent: 0x3f00_0000,
        size: 0x100_0000,
    };
    let uart = range(0x7e20_1000, 0x7e20_1200);
    assert_eq!(
        window.translate(uart),
        Some(range(0x3f20_1000, 0x3f20_1200))
    );
    assert_eq!(window.translate(range(0x7dff_f000, 0x7e00_1000)), None);
    assert_eq!(window.translate(range(0x7eff_f000, 0x7f00_1000)), None);
    assert_eq!(window.translate(range(0x4000_0000, 0x4000_1000)), None);
    let whole = Window {
        child: 0,
        parent: u64::MAX,
        size: u64::MAX,
    };
    assert_eq!(whole.translate(range(1, 2)), None, "it would wrap");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { 512 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_list_is_the_set_of_its_pages(
        steps in proptest::collection::vec((any::<bool>(), 0..56_u64, 1..8_u64), 0..40),
    ) {
        let mut list = DeviceList::new();
        let mut pages = BTreeSet::new();
        for (add, start, count) in steps {
            let (first, last) = (start * PAGE_SIZE, (start + count) * PAGE_SIZE);
            // Not the first and last byte: the list rounds outwards.
            let part = range(first + 1, last - 1);
            let done = if add { list.add(part) } else { list.remove(part) };
            // 63 pages cannot have more pieces than there is room for.
            prop_assert_eq!(done, Ok(()));
            for page in start..start + count {
                if add { pages.insert(page); } else { pages.remove(&page); }
            }
            for page in 0..80 {
                let page_range = range(page * PAGE_SIZE, (page + 1) * PAGE_SIZE);
                prop_assert_eq!(list.encloses(page_range), pages.contains(&page));
            }
            let all = contents(&list);
            prop_assert!(all.windows(2).all(|pair| pair[0].1 < pair[1].0), "{:x?}", all);
        }
    }
}

#[test]
fn no_device_is_where_memory_is() {
    // A node that claims memory at both ends of a bank, and one inside.
    let list = list(&[
        (0x900_0000, 0x900_1000),
        (0x3fff_f000, 0x4000_2000),
        (0x5000_0000, 0x5000_1000),
        (0x7fff_f000, 0x8000_1000),
    ]);
    let banks = [
        range(0x4000_0000, 0x8000_0000),
        range(0x9000_0000, 0x9000_0800),
    ];
    let list = list.without_memory(&banks).expect("room");
    assert_eq!(
        contents(&list),
        [
            (0x900_0000, 0x900_1000),
            (0x3fff_f000, 0x4000_0000),
            (0x8000_0000, 0x8000_1000)
        ]
    );
}
