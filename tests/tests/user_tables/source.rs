// SPDX-License-Identifier: MIT OR Apache-2.0
//! A table of Linux's that a shadow was filled from becomes something else: nothing is read from
//! there any more, by no kind of call.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use donjon_abi::call::{Process, Reason};
use donjon_core::memory::block_set::BlockSet;
use donjon_core::range::Range;
use donjon_core::translation::frames::FrameType;
use donjon_core::translation::{Hardware, Step};
use donjon_core::user_tables::{Fill, Withdrawal};
use donjon_models::user_tables::storage::{OwnedStorage, set_types};
use donjon_models::user_tables::{BLOCK, PAGE};

use super::threads::{ARENA, Cpu, Memory, RAM, RAM_PAGES, USER};

const WHO: Process = Process::new(5, 5);

/// A CPU that knows where it has read.
struct Watched<'m> {
    cpu: Cpu<'m>,
    reads: Cell<u32>,
}

impl Hardware for Watched<'_> {
    fn read(&self, entry: u64) -> u64 {
        let source = (RAM..RAM + BLOCK).contains(&entry);
        self.reads.set(self.reads.get() + u32::from(source));
        self.cpu.read(entry)
    }

    fn perform(&mut self, step: Step) {
        self.cpu.perform(step);
    }
}

#[test]
fn what_is_no_table_of_linuxs_any_more_is_not_read() {
    let memory = Memory::new();
    let storage = OwnedStorage::new(RAM_PAGES);
    let frames = storage.frames(RAM);
    let user_tables = storage.user_tables(ARENA, 0x1000);
    let reads = Cell::new(0);
    let cpu = Cpu(&memory);
    let hw = &mut Watched { cpu, reads };
    let page = RAM + BLOCK;
    for index in 0..32 {
        let word = memory.word(RAM + index * 8);
        word.store(USER | page, Ordering::Relaxed);
    }
    let map = |hw: &mut Watched<'_>, index: u64, count| {
        let fill = Fill {
            va: index * PAGE,
            source: RAM + index * 8,
            count,
        };
        user_tables.map(hw, &frames, WHO, fill)
    };
    user_tables.switch(hw, 0, WHO).expect("a tree");
    for (index, count) in [(0, 1), (1, 1), (2, 4)] {
        assert_eq!(map(hw, index, count), Ok(None));
    }
    assert_ne!(hw.reads.take(), 0);

    let range = Range::new(RAM, RAM + BLOCK).expect("not empty");
    set_types(&frames, range, FrameType::Claimed);
    let mut state = Some(Withdrawal::default());
    while let Some(so_far) = state {
        state = user_tables.withdraw(hw, (&frames, &BlockSet::of(RAM)), so_far);
    }
    for (index, count) in [(8, 1), (9, 16), (0, 1)] {
        assert_eq!(map(hw, index, count), Err(Reason::WrongFrame));
    }
    assert!(user_tables.refresh(hw, &frames, WHO, true));
    assert_eq!(hw.reads.take(), 0);
}
