// SPDX-License-Identifier: MIT OR Apache-2.0
//! A process that needs more tables than there is room for.

use donjon_abi::call::Process;
use donjon_core::translation::{Hardware, Step};
use donjon_core::user_tables::{Fill, LEAST_PAGES, UserTables};
use donjon_models::user_tables::PAGE;
use donjon_models::user_tables::storage::OwnedStorage;

use super::threads::{ARENA, Cpu, Memory, RAM, RAM_PAGES, USER};

const WHO: Process = Process::new(5, 5);
/// Bytes that a table of level 3 translates, and one of level 2.
const SPAN: u64 = 512 * PAGE;
const SPAN_ABOVE: u64 = 512 * SPAN;

/// A CPU that counts invalidations of an ASID.
struct Counting<'m> {
    cpu: Cpu<'m>,
    asids: u64,
}

impl Hardware for Counting<'_> {
    fn read(&self, entry: u64) -> u64 {
        self.cpu.read(entry)
    }

    fn perform(&mut self, step: Step) {
        self.asids += u64::from(matches!(step, Step::InvalidateAsid(_)));
        self.cpu.perform(step);
    }
}

/// The descriptor that a walk finds.
fn walk(hw: &impl Hardware, root: u64, va: u64) -> u64 {
    let mut table = root;
    for shift in [39, 30, 21] {
        let descriptor = hw.read(table + (va >> shift) % 512 * 8);
        if descriptor & 1 == 0 {
            return 0;
        }
        table = descriptor & 0xffff_ffff_f000;
    }
    hw.read(table + (va >> 12) % 512 * 8)
}

/// Faults in the last of several turns over one page in each `stride` bytes, and invalidations of
/// the ASID in all turns.
fn faults(pages: u64, stride: u64) -> (u64, u64) {
    let memory = Memory::new();
    let storage = OwnedStorage::new(RAM_PAGES);
    let frames = storage.frames(RAM);
    let user_tables: UserTables<'_> = storage.user_tables(ARENA, 0x1000);
    let cpu = Cpu(&memory);
    let hw = &mut Counting { cpu, asids: 0 };
    let source = RAM;
    let word = memory.word(source);
    word.store(USER | (RAM + PAGE), std::sync::atomic::Ordering::Relaxed);
    user_tables.switch(hw, 0, WHO).expect("a tree");
    let (root, _) = user_tables.tree(WHO.asid()).expect("a tree");
    let mut faults = 0;
    for _ in 0..6 {
        faults = 0;
        for va in (0..pages).map(|it| it * stride) {
            if walk(hw, root, va) == 0 {
                faults += 1;
                let filled = user_tables.map(
                    hw,
                    &frames,
                    WHO,
                    Fill {
                        va,
                        source,
                        count: 1,
                    },
                );
                assert_eq!(filled, Ok(None), "{va:#x}");
                assert_ne!(walk(hw, root, va), 0, "{va:#x}");
            }
        }
    }
    (faults, hw.asids)
}

#[test]
#[cfg_attr(miri, ignore = "needs long sequences")]
fn what_there_is_room_for_is_found_again() {
    // The root, a table of level 1 and three of level 2 are no room for pages.
    let room = LEAST_PAGES - 5;
    assert_eq!(faults(room - 1, SPAN).0, 0);
    let (few, asids) = faults(room * 21 / 20, SPAN);
    assert!((room / 20..room / 4).contains(&few), "{few} faults");
    assert!(asids < few * 6 / 4, "{asids} invalidations of the ASID");
    let (many, _) = faults(room * 2, SPAN);
    assert!((room..room * 2 * 9 / 10).contains(&many), "{many} faults");
}

#[test]
#[cfg_attr(miri, ignore = "needs long sequences")]
fn tables_above_make_room_as_well() {
    let (found, asids) = faults(LEAST_PAGES, SPAN_ABOVE);
    assert_eq!(found, LEAST_PAGES, "two tables for each page");
    assert!(asids < LEAST_PAGES * 6 / 4, "{asids} invalidations");
}
