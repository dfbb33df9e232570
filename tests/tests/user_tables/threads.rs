// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several CPUs at once, each a thread of the host: no lock waits for itself, no page is lost, no
//! table is in two trees.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use donjon_abi::call::Process;
use donjon_core::memory::block_set::BlockSet;
use donjon_core::range::Range;
use donjon_core::translation::frames::{FrameTable, FrameType};
use donjon_core::translation::{Hardware, Step};
use donjon_core::user_tables::{Fill, LEAST_PAGES, UserTables, Withdrawal};
use donjon_models::space::random::Random;
use donjon_models::user_tables::PAGE;
use donjon_models::user_tables::storage::{OwnedStorage, set_types};

pub const RAM: u64 = 0x4000_0000;
pub const RAM_PAGES: u64 = 1024;
pub const ARENA: u64 = 0x8000_0000;
pub const USER: u64 = 0x703 | 1 << 6 | 1 << 11 | 1 << 53;

/// Memory that all CPUs share.
pub struct Memory {
    ram: Vec<AtomicU64>,
    arena: Vec<AtomicU64>,
}

impl Memory {
    pub fn new() -> Self {
        let words = |pages| (0..pages * 512).map(|_| AtomicU64::new(0)).collect();
        Self {
            ram: words(RAM_PAGES),
            arena: words(LEAST_PAGES),
        }
    }

    pub fn word(&self, address: u64) -> &AtomicU64 {
        match address.checked_sub(ARENA) {
            Some(offset) => &self.arena[(offset / 8) as usize],
            None => &self.ram[((address - RAM) / 8) as usize],
        }
    }
}

/// A CPU's view of it.
pub struct Cpu<'m>(pub &'m Memory);

impl Hardware for Cpu<'_> {
    fn read(&self, entry: u64) -> u64 {
        self.0.word(entry).load(Ordering::Relaxed)
    }

    fn perform(&mut self, step: Step) {
        match step {
            Step::Write { entry, value } => {
                assert!(entry >= ARENA, "a store to {entry:#x}");
                self.0.word(entry).store(value, Ordering::Relaxed);
            }
            Step::ZeroFrame(frame) | Step::ZeroGroups { frame, .. } => {
                for entry in (frame..frame + PAGE).step_by(8) {
                    self.0.word(entry).store(0, Ordering::Relaxed);
                }
            }
            _ => std::sync::atomic::fence(Ordering::SeqCst),
        }
    }
}

fn act(
    user_tables: &UserTables<'_>,
    frames: &FrameTable<'_>,
    hw: &mut Cpu<'_>,
    cpu: usize,
    calls: u64,
) {
    let mut random = Random::new(cpu as u64);
    for _ in 0..calls {
        let asid = 1 + random.below(8) as u16;
        let id = if random.once_in(20) {
            99
        } else {
            u64::from(asid)
        };
        let who = Process::new(asid, id);
        let va = random.below(500) << 30 | random.below(8) << 21 | random.below(480) << 12;
        let count = 1 + random.below(16);
        let source = RAM + random.below(16) * PAGE + va / PAGE % 512 * 8;
        match random.below(16) {
            0..3 => {
                let _ = user_tables.switch(hw, cpu, who);
            }
            3..12 => {
                for number in 0..count {
                    let frame = RAM + random.below(RAM_PAGES) * PAGE;
                    let word = hw.0.word(source + number * 8);
                    word.store(USER | frame, Ordering::Relaxed);
                }
                let _ = user_tables.map(hw, frames, who, Fill { va, source, count });
            }
            12 => {
                user_tables.flush(hw, who, va, va + (4 << 20));
            }
            13 if random.below(2) == 0 => {
                user_tables.refresh(hw, frames, who, true);
            }
            13 => {
                user_tables.protect(hw, who, true);
            }
            14 => {
                let _ = user_tables.free(hw, who);
            }
            _ if cpu == 0 => {
                let blocks = BlockSet::of(RAM);
                let range = Range::with_size(RAM, 2 << 20).expect("not empty");
                set_types(frames, range, FrameType::Claimed);
                let mut state = Some(Withdrawal::default());
                while let Some(so_far) = state {
                    state = user_tables.withdraw(hw, (frames, &blocks), so_far);
                }
                set_types(frames, range, FrameType::Ordinary);
            }
            _ => user_tables.clear(hw, who),
        }
    }
}

#[test]
fn cpus_do_not_wait_for_each_other_and_lose_nothing() {
    let calls = if cfg!(miri) { 12 } else { 20_000 };
    let memory = Memory::new();
    let storage = OwnedStorage::new(RAM_PAGES);
    let frames = storage.frames(RAM);
    let user_tables = storage.user_tables(ARENA, 0x1000);
    thread::scope(|scope| {
        for cpu in 0..4 {
            let (user_tables, frames, memory) = (&user_tables, &frames, &memory);
            scope.spawn(move || act(user_tables, frames, &mut Cpu(memory), cpu, calls));
        }
    });
    let mut tables = BTreeSet::new();
    for root in (1..=8).filter_map(|asid| user_tables.tree(asid)) {
        walk(&memory, root.0, 0, &mut tables);
    }
    let free = u64::from(user_tables.free_pages());
    assert_eq!(tables.len() as u64 + free, LEAST_PAGES);
}

fn walk(memory: &Memory, table: u64, level: u32, tables: &mut BTreeSet<u64>) {
    assert!(tables.insert(table), "{table:#x} is in two places");
    for entry in (table..table + PAGE).step_by(8) {
        let descriptor = memory.word(entry).load(Ordering::Relaxed);
        if descriptor & 3 == 3 && level < 3 {
            walk(memory, descriptor & 0xffff_ffff_f000, level + 1, tables);
        }
    }
}
