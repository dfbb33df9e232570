// SPDX-License-Identifier: MIT OR Apache-2.0
//! An outer domain with a few processes, and what must hold after each of its calls.

use std::collections::BTreeMap;

use donjon_abi::tcr::RESERVED_ASID;
use donjon_core::frames::{FrameTable, FrameType};
use donjon_core::placement::Range;
use donjon_core::rules::{Checks, Hardware, Step};
use donjon_core::shadow::{Fill, LEAST_PAGES, Shadows, Withdrawal};

use super::books::{Books, set_types};
use super::{BLOCK, CPUS, PAGE, World, leaves};
use crate::space::dice::Dice;

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
const READ_ONLY: u64 = 1 << 7;
const SHADOW_BITS: u64 = !(1 << 51 | 1 << 52 | 0xf << 55);

struct Outer<'a, C: Checks> {
    world: World,
    shadows: Shadows<'a, C>,
    frames: FrameTable<'a>,
    dice: Dice,
    /// What a frame is, as the naive side knows it.
    types: BTreeMap<u64, FrameType>,
    /// Linux's table that each table of a process was filled from last, by level.
    sources: BTreeMap<(u16, u32, u64), u64>,
    /// The process that each CPU was given last.
    running: [Option<(u16, u64)>; CPUS],
    /// Processes map far more than they unmap.
    greedy: bool,
    /// How often each thing happened.
    tally: Tally,
}

/// How often what happened.
pub type Tally = BTreeMap<&'static str, u64>;

/// Which steps are lost.
pub type Lost = fn(&Step) -> bool;

/// Makes at most `calls` calls on a fresh machine, as long as `dice` has something to say.
///
/// # Errors
///
/// The number of the first call after which something was wrong, and what.
pub fn run<C: Checks>(
    dice: Dice,
    calls: u64,
    greedy: bool,
    lost: Option<Lost>,
) -> Result<Tally, (u64, String)> {
    let books = Books::new((RAM_END - RAM) / PAGE);
    let mut outer = Outer::<C> {
        world: World::new((ARENA, ARENA_END)),
        shadows: books.shadows_with(ARENA, RESERVED_ROOT),
        frames: books.frames(RAM),
        dice,
        types: BTreeMap::new(),
        sources: BTreeMap::new(),
        running: [None; CPUS],
        greedy,
        tally: BTreeMap::new(),
    };
    outer.world.lost = lost;
    outer.set_types();
    for call in 0..calls {
        outer.call();
        let last = call + 1 == calls || outer.dice.is_over();
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
    outer.tally.insert("steps", steps);
    Ok(outer.tally)
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
        *self.tally.entry(what).or_default() += 1;
    }

    fn who(&mut self) -> (u16, u64) {
        let asid = 1 + self.dice.below(ASIDS_USED);
        // Mostly each process keeps its ASID.
        let id = if self.dice.once_in(16) {
            1 + self.dice.below(PROCESSES)
        } else {
            asid
        };
        (asid as u16, id)
    }

    /// An address, at which few tables or many are needed.
    fn va(&mut self) -> u64 {
        let few = self.dice.below(6) * BLOCK + self.dice.below(512) * PAGE;
        if self.greedy {
            return self.dice.below(2000) << 30 | few;
        }
        match self.dice.below(4) {
            0 => self.dice.below(1 << 36) * PAGE,
            1 => self.dice.below(64) << 30 | few,
            _ => few,
        }
    }

    fn descriptor(&mut self) -> u64 {
        let frame = MAPPED + self.dice.below(MAPPED_BLOCKS * 512) * PAGE;
        let mut value = match self.dice.below(24) {
            0 => 0,
            1 => self.dice.any(),
            // Where no memory is, or the inner domain's.
            2 => USER | ARENA,
            3 => USER | 0x1000,
            // Global, executable at EL1, with other attributes.
            4 => (USER | frame) & !(1 << 11),
            5 => (USER | frame) & !(1 << 53),
            6 => (USER | frame) & !(7 << 2) | self.dice.below(8) << 2,
            7 => self.dice.any() & !1,
            _ => USER | frame,
        };
        if self.dice.once_in(2) {
            value |= READ_ONLY;
        }
        if self.dice.once_in(4) {
            value |= 1 << 51 | 1 << 55 | 1 << 52;
        }
        if self.dice.once_in(8) {
            value |= 1 << 54;
        }
        value
    }

    fn source(&mut self) -> u64 {
        match self.dice.below(40) {
            0 => ARENA,
            1 => MAPPED + self.dice.below(MAPPED_BLOCKS * 512) * PAGE,
            2 => 0x1000,
            _ => SOURCES + self.dice.below(SOURCE_PAGES) * PAGE,
        }
    }

    fn call(&mut self) {
        if self.greedy && !self.dice.once_in(4) {
            return self.map();
        }
        match self.dice.below(100) {
            92..97 | 66..84 if self.greedy => self.switch(),
            0..15 => self.switch(),
            15..60 => self.map(),
            60..66 => self.map_block(),
            66..84 => self.flush(),
            84..92 => self.refresh(),
            92..94 => {
                let who = self.who();
                self.count("clear");
                self.shadows.clear(&mut self.world, who);
                self.expect_empty(who, 0, 1 << 48);
            }
            94..97 => {
                let who = self.who();
                let freed = self.shadows.free(&mut self.world, who).is_ok();
                self.count(if freed {
                    "free"
                } else {
                    "free of a current tree"
                });
            }
            97 => self.withdraw(),
            _ => {
                // Linux changes descriptors as it likes.
                let page = SOURCES + self.dice.below(SOURCE_PAGES) * PAGE;
                for index in 0..512 {
                    let old = self.world.get(page + index * 8);
                    self.world.set(page + index * 8, old | READ_ONLY);
                }
            }
        }
    }

    fn switch(&mut self) {
        let cpu = self.dice.below(CPUS as u64) as usize;
        let (asid, id) = if self.dice.once_in(10) {
            (self.dice.one_of(&[0, 1, RESERVED_ASID]), self.dice.below(3))
        } else {
            self.who()
        };
        let done = self.shadows.switch(&mut self.world, cpu, (asid, id));
        if done.is_ok() {
            self.running[cpu] = Some((asid, id)).filter(|it| it.0 != 0);
            self.expect_apart();
        }
        self.count(if done.is_ok() {
            "switch"
        } else {
            "switch refused"
        });
    }

    /// No two processes run under one ASID, and none under the reserved one.
    fn expect_apart(&mut self) {
        let running = self.running.iter().flatten();
        for (asid, id) in running.clone() {
            let other = running.clone().any(|it| it.0 == *asid && it.1 != *id);
            if other || *asid == RESERVED_ASID {
                let wrong = format!("CPUs run {:?}", self.running);
                self.world.wrong.push(wrong);
                return;
            }
        }
    }

    /// A shadow was filled from somewhere: Linux could have read it there itself.
    fn expect_readable(&mut self, (asid, id): (u16, u64), source: u64) {
        let frame = source & !(PAGE - 1);
        let readable = (RAM..RAM_END).contains(&frame) && !self.types.contains_key(&frame);
        if !readable && self.shadows.tree(asid).is_some_and(|it| it.1 == id) {
            self.world
                .wrong
                .push(format!("ASID {asid} was filled from {source:#x}"));
        }
    }

    fn map(&mut self) {
        let who = self.who();
        let va = self.va();
        let count = self.dice.one_of(&[1, 1, 16, 16, 64, 3, 0, 65]);
        let index = va / PAGE % 512;
        let mut source = self.source() + index * 8;
        if self.dice.once_in(30) {
            source = source.wrapping_add(self.dice.below(64));
        }
        let ours = (SOURCES..SOURCES + SOURCE_PAGES * PAGE).contains(&source);
        if ours && source.is_multiple_of(8) {
            for number in 0..count.min(512 - index) {
                if self.dice.once_in(2) {
                    let value = self.descriptor();
                    self.world.set(source + number * 8, value);
                }
            }
        }
        let fill = Fill { va, source, count };
        match self.shadows.map(&mut self.world, &self.frames, who, fill) {
            Ok(refused) => {
                self.count("map");
                self.expect_readable(who, source);
                self.note_source(who, 3, va, source);
                self.expect_mapped(who, fill, refused.map(|(index, _)| index));
            }
            Err(_) => self.count("map refused"),
        }
    }

    fn map_block(&mut self) {
        let who = self.who();
        let va = self.va() & !(BLOCK - 1);
        let source = self.source() + va / BLOCK % 512 * 8;
        let block = MAPPED + self.dice.below(MAPPED_BLOCKS) * BLOCK;
        let mut value = if self.dice.once_in(8) {
            self.descriptor()
        } else {
            (USER | block) & !2
        };
        if self.dice.once_in(3) {
            value |= READ_ONLY;
        }
        if (SOURCES..RAM_END).contains(&source) {
            self.world.set(source, value);
        }
        let mapped = self
            .shadows
            .map_block(&mut self.world, &self.frames, who, va, source);
        if mapped.is_ok() {
            self.expect_readable(who, source);
        }
        // What is a table by then is no block, and leaves the source as it was.
        if mapped == Ok(None) && self.world.get(source) & 3 == 1 {
            self.note_source(who, 2, va, source);
        }
        self.count(match mapped {
            Ok(None) => "block",
            _ => "block refused",
        });
    }

    fn flush(&mut self) {
        let who = self.who();
        let start = self.va();
        let pages = self
            .dice
            .one_of(&[1, 1, 2, 16, 512, 1024, 1 << 18, 1 << 36]);
        let end = start + pages * PAGE;
        let mut at = start;
        for _ in 0..100_000 {
            if at >= end {
                break;
            }
            let next = self.shadows.flush(&mut self.world, who, at, end);
            if next <= at {
                self.world.wrong.push(format!("flush stays at {at:#x}"));
            }
            at = next;
        }
        self.count("flush");
        self.expect_empty(who, start, end);
    }

    fn refresh(&mut self) {
        let who = self.who();
        let mut first = true;
        for _ in 0..10_000 {
            let world = &mut self.world;
            if self.shadows.refresh(world, &self.frames, who, first) {
                break;
            }
            first = false;
            // Tables go between two slices.
            if self.dice.once_in(4) {
                self.flush();
            }
        }
        self.count("refresh");
        self.expect_refreshed(who);
    }

    fn note_source(&mut self, (asid, id): (u16, u64), level: u32, va: u64, source: u64) {
        let shift = 39 - 9 * (level - 1);
        if self.shadows.tree(asid).is_some_and(|it| it.1 == id) {
            let source = source & !(PAGE - 1);
            self.sources.insert((asid, level, va >> shift), source);
        }
    }

    /// Nothing is writable that Linux does not have writable, where it was read from.
    fn expect_refreshed(&mut self, (asid, id): (u16, u64)) {
        let Some((root, _)) = self.shadows.tree(asid).filter(|it| it.1 == id) else {
            return;
        };
        let (found, _) = leaves(&mut self.world, root);
        for (va, leaf) in found {
            let (level, shift) = if leaf.size == PAGE { (3, 12) } else { (2, 21) };
            let source = self.sources.get(&(asid, level, va >> (shift + 9)));
            let now = source.map(|it| self.world.get(it + (va >> shift) % 512 * 8));
            let readable = source.is_some_and(|it| !self.types.contains_key(it));
            let same = now.is_some_and(|it| it & SHADOW_BITS == leaf.descriptor) && readable;
            if leaf.descriptor & READ_ONLY == 0 && !same {
                self.world.wrong.push(format!(
                    "{va:#x} of ASID {asid} is still {:#x}, and Linux says {now:x?}",
                    leaf.descriptor
                ));
            }
        }
    }

    /// A block stops being ordinary, and is ordinary again afterwards.
    fn withdraw(&mut self) {
        let block = MAPPED + self.dice.below(MAPPED_BLOCKS - 1) * BLOCK;
        let range = Range::new(block, block + BLOCK).expect("not empty");
        set_types(&self.frames, range, FrameType::Claimed);
        for frame in (block..block + BLOCK).step_by(PAGE as usize) {
            self.types.insert(frame, FrameType::Claimed);
        }
        self.world.perform(Step::Barrier);
        let mut so_far = Some(Withdrawal::default());
        while let Some(state) = so_far {
            so_far = self.shadows.withdraw(&mut self.world, range, state);
            if self.dice.once_in(3) {
                self.map();
            }
        }
        self.count("withdraw");
        self.check(true);
        for frame in (block..block + BLOCK).step_by(PAGE as usize) {
            self.types.remove(&frame);
        }
        set_types(&self.frames, range, FrameType::Ordinary);
    }

    /// Whether a page may be a user's, by a rule of its own.
    fn allowed(&self, descriptor: u64) -> bool {
        let frame = descriptor & 0xffff_ffff_f000;
        let ram = (RAM..RAM_END).contains(&frame);
        let index = descriptor >> 2 & 7;
        let shape = descriptor & 3 == 3
            && descriptor >> 11 & 1 == 1
            && descriptor >> 53 & 1 == 1
            && descriptor >> 8 & 3 != 1
            && index <= 4
            && descriptor & (1 << 5 | 0x3ff << 40 | 0x1f << 59) == 0;
        let kind = self.types.get(&frame).copied();
        let target = match kind.unwrap_or(FrameType::Ordinary) {
            FrameType::Ordinary => true,
            FrameType::KernelText | FrameType::KernelReadOnly => {
                descriptor & READ_ONLY != 0 && index <= 1 && descriptor >> 8 & 3 == 3
            }
            _ => false,
        };
        ram && shape && target
    }

    fn expect_mapped(&mut self, (asid, id): (u16, u64), fill: Fill, refused: Option<u64>) {
        let Some((root, _)) = self.shadows.tree(asid).filter(|it| it.1 == id) else {
            return;
        };
        self.count("map with a tree");
        let (found, _) = leaves(&mut self.world, root);
        let mut first = None;
        for number in 0..fill.count {
            let va = fill.va + number * PAGE;
            let descriptor = self.world.get(fill.source + number * 8);
            let valid = descriptor & 1 != 0;
            let good = valid && self.allowed(descriptor);
            let shown = found.get(&va).map(|leaf| leaf.descriptor);
            let expected = good.then_some(descriptor & SHADOW_BITS);
            if valid && !good {
                first = first.or(Some(number));
            }
            if shown != expected {
                self.world.wrong.push(format!(
                    "{va:#x} is {shown:x?} and not {expected:x?} for {descriptor:#x}"
                ));
            }
        }
        if refused != first {
            self.world
                .wrong
                .push(format!("refused {refused:?} first and not {first:?}"));
        }
    }

    fn expect_empty(&mut self, (asid, id): (u16, u64), start: u64, end: u64) {
        let Some((root, _)) = self.shadows.tree(asid).filter(|it| it.1 == id) else {
            return;
        };
        let (found, _) = leaves(&mut self.world, root);
        if let Some((va, _)) = found.range(start..end).next() {
            self.world
                .wrong
                .push(format!("{va:#x} of ASID {asid} is still there"));
        }
    }

    fn check(&mut self, thorough: bool) {
        for (root, asid) in self.world.current().collect::<Vec<_>>() {
            if self.shadows.tree(asid).is_none_or(|it| it.0 != root) {
                self.world
                    .wrong
                    .push(format!("a CPU has {root:#x} under ASID {asid}"));
            }
        }
        let roots: BTreeMap<u16, u64> = (0..=ASIDS_USED as u16)
            .filter_map(|asid| Some((asid, self.shadows.tree(asid)?.0)))
            .collect();
        let mut trees = BTreeMap::new();
        let mut used = Vec::new();
        for (asid, root) in &roots {
            if thorough {
                let (found, tables) = leaves(&mut self.world, *root);
                used.extend(tables);
                trees.insert(*asid, found);
            }
        }
        if !thorough {
            return;
        }
        if used.len() as u64 + u64::from(self.shadows.free_pages()) != LEAST_PAGES {
            let (used, free) = (used.len(), self.shadows.free_pages());
            let wrong = format!("{used} pages are used and {free} free: {:?}", self.tally);
            self.world.wrong.push(wrong);
        }
        used.sort_unstable();
        if used.windows(2).any(|pair| pair[0] == pair[1]) {
            self.world.wrong.push("two trees share a table".into());
        }
        for (asid, found) in &trees {
            for (va, leaf) in found {
                let frames = (0..leaf.size / PAGE).map(|page| (leaf.descriptor | 2) + page * PAGE);
                for page in frames {
                    if !self.allowed(page) {
                        self.world
                            .wrong
                            .push(format!("ASID {asid} has {page:#x} at {va:#x}"));
                    }
                }
            }
        }
        let cached: Vec<_> = self.world.cached().collect();
        for (asid, va, leaf, size) in cached {
            if let Some(tree) = trees.get(&asid) {
                let shown = tree.get(&va);
                if shown.is_none_or(|it| it.descriptor != leaf || it.size != size) {
                    self.world.wrong.push(format!(
                        "a TLB has {leaf:#x} at {va:#x} of ASID {asid}, and the tree {shown:x?}"
                    ));
                }
            }
        }
    }
}
