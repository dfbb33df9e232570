// SPDX-License-Identifier: MIT OR Apache-2.0
//! A randomized outer domain with a few processes, and the checks after each of its calls.

mod calls;
mod expect;
mod generate;

use std::collections::BTreeMap;

use donjon_abi::call::Process;
use donjon_core::checks::Checks;
use donjon_core::translation::Step;
use donjon_core::translation::frames::{FrameTable, FrameType};
use donjon_core::user_tables::{LEAST_PAGES, UserTables};

use super::storage::OwnedStorage;
use super::{BLOCK, CPUS, PAGE, World};
use crate::space::random::Random;

const RAM: u64 = 0x4000_0000;
/// Four blocks of memory that Linux maps, some frames of which are not ordinary.
const MAPPED: u64 = RAM;
const MAPPED_BLOCKS: u64 = 4;
/// Linux's tables, one page for each table of a process.
const SOURCES: u64 = RAM + MAPPED_BLOCKS * BLOCK;
const SOURCE_PAGES: u64 = 64;
const RAM_END: u64 = SOURCES + BLOCK;
const ARENA: u64 = 0x8000_0000;
const ARENA_END: u64 = ARENA + LEAST_PAGES * PAGE;
const RESERVED_ROOT: u64 = 0x7fff_f000;

const ASIDS_USED: u64 = 6;
const PROCESSES: u64 = 8;

/// Valid page, user's, ordinary memory.
const USER: u64 = 0x703 | 1 << 6 | 1 << 11 | 1 << 53;
const EL0: u64 = 1 << 6;
const READ_ONLY: u64 = 1 << 7;
const ACCESSED: u64 = 1 << 10;
const GUARDED: u64 = 1 << 50;
const NO_EL0: u64 = 1 << 54;
const SHADOW_BITS: u64 = !(1 << 51 | 1 << 52 | 0xf << 55);

struct Outer<'a, C: Checks> {
    world: World,
    user_tables: UserTables<'a, C>,
    frames: FrameTable<'a>,
    random: Random,
    /// What a frame is, as the naive side knows it.
    types: BTreeMap<u64, FrameType>,
    /// Linux's table that each table of a process was filled from last, by level.
    sources: BTreeMap<(u16, u32, u64), u64>,
    /// The process that each CPU was given last.
    running: [Option<Process>; CPUS],
    /// Processes map far more than they unmap.
    greedy: bool,
    /// How often each thing happened.
    counters: Counters,
}

/// How often what happened.
pub type Counters = BTreeMap<&'static str, u64>;

/// Which steps are lost.
pub type Lost = fn(&Step) -> bool;

/// Makes at most `calls` calls on a fresh machine, as long as `random` has something to say.
///
/// # Errors
///
/// The number of the first call after which something was wrong, and what.
pub fn run<C: Checks>(
    random: Random,
    calls: u64,
    greedy: bool,
    lost: Option<Lost>,
) -> Result<Counters, (u64, String)> {
    let storage = OwnedStorage::new((RAM_END - RAM) / PAGE);
    let mut outer = Outer::<C> {
        world: World::new((ARENA, ARENA_END)),
        user_tables: storage.shadows_with(ARENA, RESERVED_ROOT),
        frames: storage.frames(RAM),
        random,
        types: BTreeMap::new(),
        sources: BTreeMap::new(),
        running: [None; CPUS],
        greedy,
        counters: BTreeMap::new(),
    };
    outer.world.lost = lost;
    outer.set_types();
    for call in 0..calls {
        outer.call();
        let last = call + 1 == calls || outer.random.is_over();
        let thorough = last || call % 64 == 0 || !outer.world.wrong.is_empty();
        outer.check(thorough);
        if let Some(wrong) = outer.world.wrong.first() {
            return Err((call, wrong.clone()));
        }
        if last {
            break;
        }
    }
    let steps = outer.world.steps;
    outer.counters.insert("steps", steps);
    Ok(outer.counters)
}

impl<C: Checks> Outer<'_, C> {
    fn set_types(&mut self) {
        let others = [
            FrameType::Inner,
            FrameType::Gate,
            FrameType::TableBlock,
            FrameType::PoolFree,
            FrameType::KernelTable3,
            FrameType::KernelText,
            FrameType::KernelReadOnly,
            FrameType::KernelVectors,
            FrameType::ModuleText,
            FrameType::Claimed,
            FrameType::TextPoolFree,
        ];
        // In the last block every eighth frame is something else.
        let last = MAPPED + (MAPPED_BLOCKS - 1) * BLOCK;
        for (number, frame) in (last..last + BLOCK).step_by(8 * PAGE as usize).enumerate() {
            let kind = others[number % others.len()];
            self.frames.set(frame, kind);
            self.types.insert(frame, kind);
        }
    }

    fn count(&mut self, what: &'static str) {
        *self.counters.entry(what).or_default() += 1;
    }
}
