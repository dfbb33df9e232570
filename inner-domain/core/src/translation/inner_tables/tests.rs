// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table builder against a plain model: a map from page address to what it shows.

use std::collections::{BTreeMap, BTreeSet};
use std::vec::Vec;

use donjon_abi::layout;
use proptest::prelude::*;

use super::*;
use crate::translation::descriptor::Attributes;

const ROOT: u64 = 0x1000;

/// Tables in a map; `free` more can be allocated.
struct Memory {
    words: BTreeMap<(u64, usize), u64>,
    tables: BTreeSet<u64>,
    free: usize,
}

impl Memory {
    fn new(free: usize) -> Self {
        Self {
            words: BTreeMap::new(),
            tables: BTreeSet::from([ROOT]),
            free,
        }
    }

    /// Every page that the tree below the root maps: VA to (PA, attributes, level).
    fn walk(&self) -> BTreeMap<u64, (u64, u64, Level)> {
        let mut found = BTreeMap::new();
        self.walk_table(ROOT, Level::Zero, 0xffff_0000_0000_0000, &mut found);
        found
    }

    fn walk_table(
        &self,
        table: u64,
        level: Level,
        base: u64,
        found: &mut BTreeMap<u64, (u64, u64, Level)>,
    ) {
        for (&(_, index), &raw) in self.words.range((table, 0)..(table, ENTRIES)) {
            let address = base + level.size() * index as u64;
            match Descriptor::decode(raw, level) {
                Descriptor::Invalid => assert_eq!(raw, 0, "leftover in a live table"),
                Descriptor::Table { next, attributes } => {
                    assert!(attributes.is_empty(), "hierarchical bits");
                    let below = level.next().expect("tables lead on");
                    self.walk_table(next.as_u64(), below, address, found);
                }
                Descriptor::Block { output, attributes }
                | Descriptor::Page { output, attributes } => {
                    found.insert(address, (output.as_u64(), attributes.bits(), level));
                }
            }
        }
    }
}

impl TableMemory for Memory {
    fn allocate(&mut self) -> Option<PhysicalAddress> {
        self.free = self.free.checked_sub(1)?;
        let table = ROOT + 0x1000 * self.tables.len() as u64;
        assert!(self.tables.insert(table));
        PhysicalAddress::new(table)
    }

    fn read(&self, table: PhysicalAddress, index: usize) -> u64 {
        assert!(self.tables.contains(&table.as_u64()) && index < ENTRIES);
        let word = self.words.get(&(table.as_u64(), index));
        word.copied().unwrap_or(0)
    }

    fn write(&mut self, table: PhysicalAddress, index: usize, value: u64) {
        assert!(self.tables.contains(&table.as_u64()) && index < ENTRIES);
        self.words.insert((table.as_u64(), index), value);
    }
}

fn root() -> PhysicalAddress {
    PhysicalAddress::new(ROOT).expect("small")
}

fn mapping(virtual_address: u64, physical_address: u64, size: u64, largest: Level) -> Mapping {
    Mapping {
        virtual_address: VirtualAddress::new(virtual_address).expect("canonical"),
        physical_address: PhysicalAddress::new(physical_address).expect("48 bits"),
        size,
        kind: MappingKind::InnerData,
        largest,
    }
}

#[test]
fn the_gate_is_one_global_page() {
    let mut memory = Memory::new(3);
    let gate = Mapping {
        kind: MappingKind::GateText,
        ..mapping(layout::GATE, 0x4000_5000, 4096, Level::Three)
    };
    map(&mut memory, root(), &gate).expect("three tables suffice");
    let page = memory.walk()[&layout::GATE];
    assert_eq!(page.0, 0x4000_5000);
    assert_eq!(page.1 & Attributes::NON_GLOBAL.bits(), 0);
    assert_eq!(memory.words[&(ROOT, 256 + layout::GATE_SLOT)] & 3, 3);
}

#[test]
fn physical_memory_takes_gigabyte_blocks_where_they_fit() {
    let mut memory = Memory::new(10);
    let start = 0x8000_0000 - 0x20_0000;
    let view = mapping(
        layout::PHYSMAP + start,
        start,
        0x4000_0000 + 0x20_1000,
        Level::One,
    );
    map(&mut memory, root(), &view).expect("enough tables");
    let levels: Vec<_> = memory.walk().values().map(|leaf| leaf.2).collect();
    assert_eq!(levels, [Level::Two, Level::One, Level::Three]);
    assert_eq!(memory.tables.len(), 1 + 1 + 2 + 1);
}

#[test]
fn the_last_page_of_the_address_space_can_be_mapped() {
    let mut memory = Memory::new(3);
    let last = mapping(u64::MAX - 4095, 0x1000, 4096, Level::One);
    map(&mut memory, root(), &last).expect("it is in slot 255");
    assert_eq!(memory.walk().len(), 1);
}

#[test]
fn bad_requests_are_refused() {
    let refused = |virtual_address, physical_address, size, largest| {
        let request = mapping(virtual_address, physical_address, size, largest);
        let mut memory = Memory::new(100);
        let error = map(&mut memory, root(), &request).expect_err("bad");
        assert!(memory.words.is_empty());
        error
    };
    let gate = layout::GATE;
    for (address, physical, size) in [
        (gate + 8, 0, 4096),
        (gate, 8, 4096),
        (gate, 0, 4095),
        (gate, 0, 0),
    ] {
        let error = refused(address, physical, size, Level::Three);
        assert!(matches!(error, MapError::Misaligned { .. }), "{error}");
    }
    for (address, size) in [
        (gate - 4096, 8192),
        (gate, layout::SLOT_SIZE + 4096),
        (u64::MAX - 4095, 8192),
        (gate, 0_u64.wrapping_sub(4096)),
    ] {
        let error = refused(address, 0, size, Level::Three);
        assert!(matches!(error, MapError::LeavesSlot { .. }), "{error}");
    }
    let error = refused(gate, (1 << 48) - 4096, 8192, Level::Three);
    assert!(matches!(error, MapError::LeavesPhysicalMemory { .. }));
    assert_eq!(refused(gate, 0, 4096, Level::Zero), MapError::NoSuchLeaf);
}

#[test]
fn a_valid_entry_is_never_replaced() {
    let mut memory = Memory::new(10);
    let block = mapping(layout::PHYSMAP, 0, 0x20_0000, Level::Two);
    map(&mut memory, root(), &block).expect("empty tree");
    let before = memory.words.clone();
    let inside = mapping(layout::PHYSMAP + 0x1000, 0x1000, 4096, Level::Three);
    let behind = mapping(layout::PHYSMAP, 0, 0x40_0000, Level::Two);
    let above = mapping(layout::PHYSMAP, 0, 0x4000_0000, Level::One);
    for request in [block, inside, behind, above] {
        let error = map(&mut memory, root(), &request).expect_err("overlap");
        assert!(matches!(error, MapError::AlreadyMapped { .. }), "{error}");
        assert_eq!(memory.words, before);
    }
}

#[test]
fn running_out_of_tables_changes_nothing_reachable() {
    for free in 0..4 {
        let mut memory = Memory::new(free);
        let request = mapping(
            layout::GATE + 0x20_0000 - 4096,
            0x1000,
            3 * 4096,
            Level::Three,
        );
        let error = map(&mut memory, root(), &request).expect_err("four are needed");
        let expected = MapError::OutOfTables {
            needed: 4,
            available: free,
        };
        assert_eq!(error, expected);
        assert!(memory.walk().is_empty());
    }
}

#[test]
fn a_slot_is_linked_in_one_half_or_in_both() {
    let table = PhysicalAddress::new(0x9000).expect("small");
    let mut memory = Memory::new(0);
    link(&mut memory, root(), layout::GATE_SLOT, table, true).expect("free slot");
    link(&mut memory, root(), layout::INNER_SLOT, table, false).expect("free slot");
    assert_eq!(memory.read(root(), layout::GATE_SLOT), 0x9003);
    assert_eq!(memory.read(root(), 256 + layout::GATE_SLOT), 0x9003);
    assert_eq!(memory.read(root(), layout::INNER_SLOT), 0);
    assert_eq!(memory.read(root(), 256 + layout::INNER_SLOT), 0x9003);

    let before = memory.words.clone();
    let again = link(&mut memory, root(), layout::INNER_SLOT, table, true);
    assert!(matches!(again, Err(MapError::AlreadyMapped { .. })));
    let beyond = link(&mut memory, root(), 256, table, false);
    assert_eq!(beyond, Err(MapError::NoSuchSlot { slot: 256 }));
    let odd = PhysicalAddress::new(0x9008).expect("small");
    assert!(link(&mut memory, root(), 1, odd, false).is_err());
    assert_eq!(memory.words, before);
}

#[test]
fn an_inner_only_slot_whose_outer_entry_is_valid_is_refused() {
    let table = PhysicalAddress::new(0x9000).expect("small");
    let mut memory = Memory::new(0);
    memory.write(root(), layout::INNER_SLOT, 0x5003);
    let refused = link(&mut memory, root(), layout::INNER_SLOT, table, false);
    assert!(matches!(refused, Err(MapError::AlreadyMapped { .. })));
}

/// One request: page offset in the slot, physical page, pages, kind, largest leaf.
fn request() -> impl Strategy<Value = Mapping> {
    let near = prop_oneof![0..64_u64, 480..560_u64, 0..1_100_000_u64];
    let most = if cfg!(miri) { 8 } else { 1_600 };
    let pages = prop_oneof![1..20_u64.min(most), most / 3..most];
    let kind = proptest::sample::select(MappingKind::ALL.as_slice());
    let largest = proptest::sample::select([Level::One, Level::Two, Level::Three].as_slice());
    (near.clone(), near, pages, kind, largest, any::<bool>()).prop_map(
        |(page, frame, pages, kind, largest, identity)| Mapping {
            kind,
            ..mapping(
                layout::PHYSMAP + page * 4096,
                if identity { page } else { frame } * 4096,
                pages * 4096,
                largest,
            )
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 4 } else { 128 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_tree_shows_what_was_accepted_and_nothing_else(
        requests in proptest::collection::vec(request(), 1..6),
        free in 0..24_usize,
    ) {
        let mut memory = Memory::new(free);
        let mut model: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for request in &requests {
            let start = request.virtual_address.as_u64();
            let pages = || (0..request.size / 4096).map(|page| page * 4096);
            let before = memory.walk();
            match map(&mut memory, root(), request) {
                Ok(()) => for offset in pages() {
                    let shown = request.physical_address.as_u64() + offset;
                    let bits = request.kind.attributes().bits();
                    prop_assert_eq!(model.insert(start + offset, (shown, bits)), None);
                },
                Err(MapError::AlreadyMapped { .. }) => {
                    prop_assert_eq!(&memory.walk(), &before);
                }
                Err(MapError::OutOfTables { .. }) => {
                    prop_assert_eq!(&memory.walk(), &before);
                }
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
        let mut shown = BTreeMap::new();
        for (address, (physical, bits, level)) in memory.walk() {
            for offset in (0..level.size()).step_by(4096) {
                shown.insert(address + offset, (physical + offset, bits));
            }
        }
        prop_assert_eq!(shown, model);
    }
}
