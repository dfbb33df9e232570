// SPDX-License-Identifier: MIT OR Apache-2.0
//! The walk against figures from the manual, and the enumeration's completeness. Whole machines
//! are in the tests that use the models.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

struct Memory {
    words: BTreeMap<u64, u64>,
    hostile: BTreeSet<u64>,
}

impl Memory {
    fn new(words: &[(u64, u64)]) -> Self {
        Self {
            words: words.iter().copied().collect(),
            hostile: BTreeSet::new(),
        }
    }
}

impl PhysicalMemory for Memory {
    fn read(&self, address: u64) -> Option<u64> {
        assert_eq!(address % 8, 0);
        (address < 1 << 40).then(|| self.words.get(&address).copied().unwrap_or(0))
    }

    fn is_hostile(&self, read: TableRead) -> bool {
        self.hostile.contains(&(read.address & !0xfff))
    }
}

fn geometry(granule: Granule, size_offset: u8, large_addresses: bool) -> Geometry {
    Geometry {
        granule,
        size_offset,
        large_addresses,
        corruption: None,
    }
}

const VA: u64 = 0xffff_a123_4567_89ac;

/// The first descriptor that a walk of an otherwise zero memory reads.
fn first_read(root: u64, geometry: Geometry, address: u64) -> u64 {
    let probe = Probe {
        address,
        expected: 0,
    };
    match walk(&Memory::new(&[]), root, geometry, probe) {
        WalkResult::Fault(Fault::Invalid { descriptor }) => descriptor,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_root_index_is_what_the_size_leaves_above_whole_levels() {
    let root = 0x8000_0000;
    let index =
        |granule, size, large| (first_read(root, geometry(granule, size, large), VA) - root) / 8;
    assert_eq!(index(Granule::Kib4, 16, false), VA >> 39 & 0x1ff);
    assert_eq!(index(Granule::Kib4, 17, false), VA >> 39 & 0xff);
    assert_eq!(index(Granule::Kib4, 12, true), 0b1111, "level -1");
    assert_eq!(index(Granule::Kib16, 16, false), 1, "level 0 has 2 entries");
    assert_eq!(index(Granule::Kib16, 17, false), VA >> 36 & 0x7ff);
    assert_eq!(index(Granule::Kib16, 12, true), VA >> 47 & 0x1f);
    assert_eq!(index(Granule::Kib64, 16, false), VA >> 42 & 0x3f);
    assert_eq!(index(Granule::Kib64, 12, false), VA >> 42 & 0x3ff);
}

#[test]
fn addresses_outside_the_range_fault() {
    let probe = Probe {
        address: VA,
        expected: 0,
    };
    for granule in [Granule::Kib4, Granule::Kib16, Granule::Kib64] {
        let result = walk(&Memory::new(&[]), 0, geometry(granule, 18, false), probe);
        assert_eq!(
            result,
            WalkResult::Fault(Fault::OutOfRange),
            "VA bit 46 is 0"
        );
    }
}

#[test]
fn a_misaligned_root_is_rounded_down_or_corrupted_in_its_ones() {
    let root = 0x8000_7000;
    let small = geometry(Granule::Kib4, 16, false);
    assert_eq!(corruptions(root, small).collect::<Vec<_>>(), [None]);
    let large = geometry(Granule::Kib16, 17, false);
    let possible: Vec<_> = corruptions(root, large).collect();
    let values = [None, Some(0), Some(0x1000), Some(0x2000), Some(0x3000)];
    assert_eq!(possible, values);
    let rounded = first_read(root, large, VA);
    assert_eq!(rounded, 0x8000_4000 + (VA >> 36 & 0x7ff) * 8);
    let corrupted = Geometry {
        corruption: Some(0x3000),
        ..large
    };
    assert_eq!(first_read(root, corrupted, VA), rounded | 0x3000);
}

#[test]
fn four_levels_of_four_kilobytes_end_at_the_page() {
    let index = |shift: u32| (VA >> shift & 0x1ff) * 8;
    let page = |bits| {
        Memory::new(&[
            (0x1000 + index(39), 0x2003),
            (0x2000 + index(30), 0x3003),
            (0x3000 + index(21), 0x4003),
            (0x4000 + index(12), 0x9003_u64 | bits),
        ])
    };
    let go = |memory: &Memory, expected| {
        let probe = Probe {
            address: VA,
            expected,
        };
        walk(memory, 0x1000, geometry(Granule::Kib4, 16, false), probe)
    };
    let address = 0x9000 | VA & 0xfff;
    assert_eq!(go(&page(0), address), WalkResult::Itself { address });
    assert_eq!(go(&page(0), 0x9000), WalkResult::Escape { address });
    assert_eq!(
        go(&page(1 << 53), address),
        WalkResult::NotExecutable { address }
    );
    let mut hostile = page(0);
    hostile.hostile.insert(0x3000);
    let result = go(&hostile, address);
    assert!(matches!(result, WalkResult::HostileTable { level: 2, .. }));
}

#[test]
fn large_addresses_come_from_the_low_bits() {
    let four = geometry(Granule::Kib4, 16, true);
    let probe = Probe {
        address: VA,
        expected: 0,
    };
    let block = Memory::new(&[(0x1000 + (VA >> 39 & 0x1ff) * 8, 0x8000_0000_0301)]);
    let result = walk(&block, 0x1000, four, probe);
    let address = 0xc_8000_0000_0000 | VA & ((1 << 39) - 1);
    assert_eq!(result, WalkResult::Fault(Fault::NoMemory { address }));
    let sixty_four = geometry(Granule::Kib64, 16, true);
    let table = Memory::new(&[(0x1000 + (VA >> 42 & 0x3f) * 8, 0x5003)]);
    let result = walk(&table, 0x1000, sixty_four, probe);
    let address = 0x5_0000_0000_0000 + (VA >> 29 & 0x1fff) * 8;
    assert_eq!(result, WalkResult::Fault(Fault::NoMemory { address }));
}

#[test]
fn blocks_stand_only_where_the_granule_has_them() {
    let levels = |granule, large| {
        let geometry = geometry(granule, 16, large);
        (-1..3)
            .filter(|level| geometry.has_blocks(*level))
            .collect::<Vec<i8>>()
    };
    assert_eq!(levels(Granule::Kib4, false), [1, 2]);
    assert_eq!(levels(Granule::Kib4, true), [0, 1, 2]);
    assert_eq!(levels(Granule::Kib16, false), [2]);
    assert_eq!(levels(Granule::Kib16, true), [1, 2]);
    assert_eq!(levels(Granule::Kib64, false), [2]);
    assert_eq!(levels(Granule::Kib64, true), [1, 2]);
}

#[test]
#[cfg_attr(miri, ignore = "20,000 walks")]
fn every_encoding_and_every_behaviour_is_tried() {
    let memory = Memory::new(&[]);
    let probe = Probe {
        address: !0xfff,
        expected: 0,
    };
    let mut encodings = BTreeSet::new();
    let mut geometries = BTreeSet::new();
    enumerate(&memory, 0x8000_0000, probe, |finding| {
        encodings.insert((finding.tg1, finding.t1sz, finding.ds));
        geometries.extend(finding.geometry);
    });
    assert_eq!(encodings.len(), 4 * 64 * 2);
    let sizes = |granule, large| {
        let all = geometries
            .iter()
            .filter(|it| it.granule == granule && it.large_addresses == large);
        let sizes: Vec<_> = all.map(|it| it.size_offset).collect();
        (sizes[0], sizes[sizes.len() - 1], sizes.len())
    };
    assert_eq!(sizes(Granule::Kib4, false), (16, 48, 33));
    assert_eq!(sizes(Granule::Kib4, true), (12, 48, 37));
    assert_eq!(sizes(Granule::Kib16, false), (16, 48, 33));
    assert_eq!(sizes(Granule::Kib64, false), (12, 47, 36));
}

#[test]
fn clamping_and_refusing_are_both_tried() {
    let sizes = effective_sizes(Granule::Kib4, false, 63);
    assert_eq!(sizes.mask, 1 << 39 | 1 << 48);
    assert!(sizes.may_refuse);
    let sizes = effective_sizes(Granule::Kib64, true, 13);
    assert_eq!(sizes.mask, 1 << 13 | 1 << 16);
    assert!(sizes.may_refuse);
    assert!(!effective_sizes(Granule::Kib4, false, 17).may_refuse);
}
