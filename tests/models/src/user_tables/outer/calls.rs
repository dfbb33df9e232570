// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes the calls, and updates the reference copy.

use donjon_abi::call::Process;
use donjon_abi::tcr::{COMPARTMENT_ASID, RESERVED_ASID};
use donjon_core::checks::Checks;
use donjon_core::memory::block_set::BlockSet;
use donjon_core::range::Range;
use donjon_core::translation::frames::FrameType;
use donjon_core::translation::{Hardware, Step};
use donjon_core::user_tables::{Fill, Withdrawal};

use super::super::storage::set_types;
use super::super::{BLOCK, CPUS, PAGE};
use super::{
    ACCESSED, EL0, GUARDED, MAPPED, MAPPED_BLOCKS, NO_EL0, Outer, RAM_END, READ_ONLY, SOURCE_PAGES,
    SOURCES, USER,
};

/// What Linux sets and clears in all descriptors of a table: write-protection, as for fork, and
/// each bit that decides what a process may do.
const CHANGES: [(u64, u64); 8] = [
    (READ_ONLY, 0),
    (READ_ONLY, NO_EL0),
    (0, NO_EL0),
    (NO_EL0, 0),
    (READ_ONLY | GUARDED, 0),
    (0, GUARDED),
    (READ_ONLY, EL0),
    (EL0 | ACCESSED, 0),
];

impl<C: Checks> Outer<'_, C> {
    pub(super) fn call(&mut self) {
        if self.greedy && !self.random.once_in(4) {
            return self.map();
        }
        match self.random.below(100) {
            92..97 | 66..84 if self.greedy => self.switch(),
            0..15 => self.switch(),
            15..60 => self.map(),
            60..66 => self.map_block(),
            66..84 => self.flush(),
            84..91 => self.refresh(),
            91 => self.protect(),
            92..94 => {
                let process = self.who();
                self.count("clear");
                self.user_tables.clear(&mut self.world, process);
                self.expect_empty(process, 0, 1 << 48);
            }
            94..97 => {
                let process = self.who();
                let freed = self.user_tables.free(&mut self.world, process).is_ok();
                self.count(if freed {
                    "free"
                } else {
                    "free of a current tree"
                });
            }
            97 => self.withdraw(),
            _ => {
                // Linux changes descriptors as it likes.
                let page = SOURCES + self.random.below(SOURCE_PAGES) * PAGE;
                let (set, cleared) = self.random.one_of(&CHANGES);
                for index in 0..512 {
                    let old = self.world.get(page + index * 8);
                    self.world.set(page + index * 8, (old | set) & !cleared);
                }
            }
        }
    }

    pub(super) fn switch(&mut self) {
        let cpu = self.random.below(CPUS as u64) as usize;
        let process = if self.random.once_in(10) {
            let asid = self.random.one_of(&[0, RESERVED_ASID, COMPARTMENT_ASID]);
            Process::new(asid, self.random.below(3))
        } else {
            self.who()
        };
        let done = self.user_tables.switch(&mut self.world, cpu, process);
        if done.is_ok() {
            self.running[cpu] = Some(process).filter(|it| it.asid() != 0);
            self.expect_apart();
        }
        self.count(if done.is_ok() {
            "switch"
        } else {
            "switch refused"
        });
    }

    pub(super) fn map(&mut self) {
        let process = self.who();
        let va = self.va();
        let count = self.random.one_of(&[1, 1, 16, 16, 64, 3, 0, 65]);
        let index = va / PAGE % 512;
        let mut source = self.source() + index * 8;
        if self.random.once_in(30) {
            source = source.wrapping_add(self.random.below(64));
        }
        let ours = (SOURCES..SOURCES + SOURCE_PAGES * PAGE).contains(&source);
        if ours && source.is_multiple_of(8) {
            for number in 0..count.min(512 - index) {
                if self.random.once_in(2) {
                    let value = self.descriptor();
                    self.world.set(source + number * 8, value);
                }
            }
        }
        let fill = Fill { va, source, count };
        match self
            .user_tables
            .map(&mut self.world, &self.frames, process, fill)
        {
            Ok(refused) => {
                self.count("map");
                self.expect_readable(process, source);
                self.note_source(process, 3, va, source);
                self.expect_mapped(process, fill, refused.map(|(index, _)| index));
            }
            Err(_) => self.count("map refused"),
        }
    }

    pub(super) fn map_block(&mut self) {
        let process = self.who();
        let va = self.va() & !(BLOCK - 1);
        let source = self.source() + va / BLOCK % 512 * 8;
        let block = MAPPED + self.random.below(MAPPED_BLOCKS) * BLOCK;
        let mut value = if self.random.once_in(8) {
            self.descriptor()
        } else {
            (USER | block) & !2
        };
        if self.random.once_in(3) {
            value |= READ_ONLY;
        }
        if (SOURCES..RAM_END).contains(&source) {
            self.world.set(source, value);
        }
        let mapped = self
            .user_tables
            .map_block(&mut self.world, &self.frames, process, va, source);
        if mapped.is_ok() {
            self.expect_readable(process, source);
        }
        // What is a table by then is no block, and leaves the source as it was.
        if mapped == Ok(None) && self.world.get(source) & 3 == 1 {
            self.note_source(process, 2, va, source);
        }
        self.count(match mapped {
            Ok(None) => "block",
            _ => "block refused",
        });
    }

    pub(super) fn flush(&mut self) {
        let process = self.who();
        let start = self.va();
        let pages = self
            .random
            .one_of(&[1, 1, 2, 16, 512, 1024, 1 << 18, 1 << 36]);
        let end = start + pages * PAGE;
        let mut at = start;
        for _ in 0..100_000 {
            if at >= end {
                break;
            }
            let next = self.user_tables.flush(&mut self.world, process, at, end);
            if next <= at {
                self.world.wrong.push(format!("flush stays at {at:#x}"));
            }
            at = next;
        }
        self.count("flush");
        self.expect_empty(process, start, end);
    }

    /// Takes the right to write away from all entries.
    fn protect(&mut self) {
        let process = self.who();
        let before = self.shown(process);
        let mut first = true;
        while !self.user_tables.protect(&mut self.world, process, first) {
            first = false;
        }
        self.count("protect");
        self.expect_protected(process, &before);
    }

    pub(super) fn refresh(&mut self) {
        let process = self.who();
        let before = self.shown(process);
        let mut first = true;
        for _ in 0..10_000 {
            let world = &mut self.world;
            if self
                .user_tables
                .refresh(world, &self.frames, process, first)
            {
                break;
            }
            first = false;
            // Tables go between two slices.
            if self.random.once_in(4) {
                self.flush();
            }
        }
        self.count("refresh");
        self.expect_refreshed(process);
        self.expect_no_more(process, &before);
    }

    /// Lets one or two blocks stop being ordinary, and be ordinary again afterwards.
    pub(super) fn withdraw(&mut self) {
        let mut blocks = BlockSet::EMPTY;
        for _ in 0..=self.random.below(2) {
            let block = MAPPED + self.random.below(MAPPED_BLOCKS - 1) * BLOCK;
            if blocks.position(block).is_none() {
                blocks.push(block);
            }
        }
        self.become_all(&blocks, FrameType::Claimed);
        self.world.perform(Step::Barrier);
        let mut so_far = Some(Withdrawal::default());
        while let Some(state) = so_far {
            so_far = self
                .user_tables
                .withdraw(&mut self.world, (&self.frames, &blocks), state);
            if self.random.once_in(3) {
                self.map();
            }
        }
        self.count("withdraw");
        self.check(true);
        self.become_all(&blocks, FrameType::Ordinary);
    }

    fn become_all(&mut self, blocks: &BlockSet, class: FrameType) {
        for block in blocks.as_slice() {
            let range = Range::with_size(*block, BLOCK).expect("not empty");
            set_types(&self.frames, range, class);
            for frame in (*block..block + BLOCK).step_by(PAGE as usize) {
                match class {
                    FrameType::Ordinary => self.types.remove(&frame),
                    _ => self.types.insert(frame, class),
                };
            }
        }
    }

    pub(super) fn note_source(&mut self, process: Process, level: u32, va: u64, source: u64) {
        let shift = 39 - 9 * (level - 1);
        if self
            .user_tables
            .tree(process.asid())
            .is_some_and(|it| it.1 == process)
        {
            let source = source & !(PAGE - 1);
            self.sources
                .insert((process.asid(), level, va >> shift), source);
        }
    }
}
