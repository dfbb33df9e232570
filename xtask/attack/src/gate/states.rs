// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a run starts, and with which registers.

use donjon_abi::call::{CORE_FUNCTIONS, REASON_MISMATCH};
use donjon_abi::layout::{
    CPU_BLOCKS, DATA_WINDOW, GATE, GATE_ENTRY, GATE_REPAIR, PHYSMAP, TEXT_WINDOW,
};
use donjon_abi::tcr::{INNER, OUTER, STRICT_MIDDLE};
use serde::Serialize;

use super::map::{Map, SLOT, SLOTS};
use super::oracle::DAIF;
use super::values::{GEOMETRIES, Values};
use donjon_models::space::random::Random;

/// `MDSCR_EL1`: software step; debug exceptions at EL1; breakpoints.
const STEP: u64 = 1;
const KERNEL_DEBUG: u64 = 1 << 13;
const MONITOR_DEBUG: u64 = 1 << 15;
/// `DBGBCR0_EL1`: on, at EL1, any of the four bytes.
const BREAKPOINT: u64 = 1 | 0b01 << 1 | 0xf << 5;
/// PSTATE.SS, PSTATE.D.
const SINGLE_STEP: u64 = 1 << 21;
const DEBUG_MASK: u64 = 1 << 9;
const INTERRUPT_MASK: u64 = 1 << 7;
/// PSTATE.M for EL1 with SP_EL1; with SP_EL0 it is one less.
const EL1H: u64 = 5;

/// What a run is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// A call as any caller makes it, with hostile arguments.
    Call,
    /// A jump to a write with a value of the attacker's.
    Write,
    /// A jump to a write with a value of the attacker's, then an exception of any kind: the CPU
    /// goes on at a vector slot.
    Slot,
    /// A jump to a write with a value of the attacker's, with a software step over the write.
    Step,
    /// A jump to a write with a value of the attacker's, with a breakpoint behind the write.
    Breakpoint,
    /// A jump to a write with a value of the attacker's, with an interrupt that comes behind the
    /// write.
    Interrupt,
    /// A jump to any word of the gate page.
    Word,
    /// A jump to a word of the vectors.
    Vectors,
}

/// Words of the gate page.
const WORDS: u64 = 1024;
/// In which order they take turns.
const TURNS: [Class; 20] = [
    Class::Write,
    Class::Slot,
    Class::Word,
    Class::Step,
    Class::Write,
    Class::Interrupt,
    Class::Call,
    Class::Write,
    Class::Breakpoint,
    Class::Slot,
    Class::Word,
    Class::Write,
    Class::Vectors,
    Class::Step,
    Class::Word,
    Class::Write,
    Class::Interrupt,
    Class::Breakpoint,
    Class::Write,
    Class::Word,
];

/// The start of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Start {
    /// What it is about.
    pub class: Class,
    /// The first instruction.
    pub target: u64,
    /// x0 to x30.
    pub general: Vec<u64>,
    /// Both stack pointers.
    pub stacks: [u64; 2],
    /// PSTATE.
    pub pstate: u64,
    /// `MDSCR_EL1`.
    pub debug: u64,
    /// `DBGBVR0_EL1` and `DBGBCR0_EL1`.
    pub breakpoint: [u64; 2],
    /// Number of instructions after which an interrupt is pending.
    pub interrupt_after: Option<u32>,
    /// Once a forged value stands, the CPU goes on there.
    pub exception: Option<u64>,
    /// Single-step inner text to its end, too.
    pub thorough: bool,
}

/// Addresses of the outer domain that a start needs.
#[derive(Clone, Copy, Debug)]
pub struct Outer {
    /// Kernel text that a call may return to.
    pub text: u64,
    /// Writable memory in the linear map, full of hostile descriptors.
    pub memory: u64,
}

/// Gives out starts.
pub struct Starts {
    random: Random,
    values: Values,
    count: u64,
    words: u64,
    coded: Vec<u64>,
    writes: Vec<u64>,
    vectors: u64,
    outer: Outer,
    geometry: Option<u64>,
}

impl Starts {
    /// Makes a generator of a seed. `part` tells the generators apart that share runs out among
    /// them.
    pub fn new(seed: u64, part: u64, map: &Map, outer: Outer) -> Self {
        let mut random = Random::new(seed.wrapping_add(part));
        Self {
            values: Values::new(&mut random),
            random,
            count: 0,
            words: part * WORDS / 2,
            coded: map.coded(),
            writes: map.writes(),
            vectors: map.vectors,
            outer,
            geometry: None,
        }
    }

    /// Only writes of the geometries of the outer value, one after the other, first those in which
    /// permissions in table descriptors count for nothing.
    pub fn only_geometries(mut self) -> Self {
        self.geometry = Some(GEOMETRIES / 2);
        self
    }

    /// The next start.
    pub fn next(&mut self) -> Start {
        if let Some(number) = &mut self.geometry {
            let value = super::values::geometry(OUTER, *number);
            *number += 1;
            let mut start = self.hostile(Class::Write);
            start.target = self.writes[0];
            start.general[18] = value;
            start.pstate |= DAIF;
            return start;
        }
        let class = TURNS[(self.count % TURNS.len() as u64) as usize];
        let round = self.count / TURNS.len() as u64;
        self.count += 1;
        let mut start = self.hostile(class);
        match class {
            Class::Call => {
                start.target = GATE_ENTRY;
                if self.random.once_in(2) {
                    start.pstate &= !INTERRUPT_MASK;
                    start.interrupt_after = Some(self.random.below(30) as u32);
                }
            }
            Class::Word => {
                start.target = if self.count.is_multiple_of(3) {
                    self.random.one_of(&self.coded)
                } else {
                    self.words += 1;
                    // Prime to the number of words, so every word comes.
                    GATE + (self.words * 331 % WORDS) * 4
                };
                if self.random.once_in(3) {
                    start.interrupt_after = Some(self.random.below(20) as u32);
                }
            }
            Class::Vectors => {
                let (slot, word) = (round % SLOTS, round / SLOTS % 8);
                start.target = self.vectors + slot * SLOT + word * 4;
            }
            _ => {
                start.target = self.random.one_of(&self.writes);
                start.general[18] = self.values.next(&mut self.random);
                self.disturb(&mut start);
            }
        }
        start
    }

    /// What comes behind the write.
    fn disturb(&mut self, start: &mut Start) {
        match start.class {
            Class::Slot => {
                let slot = self.random.below(SLOTS);
                start.exception = Some(self.vectors + slot * SLOT);
            }
            Class::Step => {
                start.debug = STEP | KERNEL_DEBUG;
                start.pstate = start.pstate & !DEBUG_MASK | SINGLE_STEP;
            }
            Class::Breakpoint => {
                start.debug = MONITOR_DEBUG | KERNEL_DEBUG;
                start.pstate &= !DEBUG_MASK;
                let behind = 4 + 4 * self.random.one_of(&[0, 0, 0, 1, 2, 3]);
                start.breakpoint = [start.target + behind, BREAKPOINT];
            }
            Class::Interrupt => {
                start.pstate &= !INTERRUPT_MASK;
                // One instruction is the write.
                start.interrupt_after = Some(self.random.one_of(&[1, 1, 1, 2, 3, 4]));
            }
            _ => (),
        }
    }

    /// Hostile registers of all kinds.
    fn hostile(&mut self, class: Class) -> Start {
        let mut general: Vec<u64> = (0..31).map(|_| self.word()).collect();
        general[0] = self.function();
        general[18] = self.word();
        general[30] = self.return_address();
        let stacks = [self.stack(), self.stack()];
        let random = &mut self.random;
        let flags = random.below(16) << 28;
        let masks = random.below(16) << 6;
        Start {
            class,
            target: 0,
            general,
            stacks,
            pstate: flags | masks | (EL1H - random.below(2)),
            debug: 0,
            breakpoint: [0, 0],
            interrupt_after: None,
            exception: None,
            thorough: random.once_in(16),
        }
    }

    /// Function numbers of all kinds.
    fn function(&mut self) -> u64 {
        let random = &mut self.random;
        let core = CORE_FUNCTIONS as u64;
        match random.below(12) {
            0..=3 => random.below(core),
            // Null, version, echo, information: those that are answered.
            4 => random.one_of(&[0, 1, 4, 5]),
            5 => core + random.below(4),
            6 => REASON_MISMATCH,
            7 => REASON_MISMATCH ^ 1 << random.below(64),
            8 => random.one_of(&[0x10, 0x11, 0x12, 0x80]) << 16 | random.below(4),
            9 => 1 << random.below(64),
            10 => random.one_of(&[u64::MAX, 1 << 63, i64::MAX as u64]),
            _ => random.any(),
        }
    }

    /// Where the gate is to return to: mostly to the outer domain.
    fn return_address(&mut self) -> u64 {
        let random = &mut self.random;
        match random.below(16) {
            0 => random.one_of(&self.coded),
            1 => GATE + random.below(1024) * 4,
            2 => random.one_of(&[0, TEXT_WINDOW, GATE - 4, GATE - 0x9c, self.vectors + 0x200]),
            3 => self.outer.text + 1 + random.below(3),
            _ => self.outer.text,
        }
    }

    /// Stack pointers: good, null, unmapped, misaligned, inner, text.
    fn stack(&mut self) -> u64 {
        let good = self.outer.memory + 0x800;
        let random = &mut self.random;
        let kinds = [
            good,
            0,
            0xffff_9000_0000_0000,
            good + 8,
            good + 1,
            CPU_BLOCKS,
            PHYSMAP + 0x4000_0000,
            GATE + 0x100,
            self.outer.text,
            u64::MAX,
            1 << 40,
        ];
        random.one_of(&kinds)
    }

    /// Anything that the code could take for an address, a size, a function or a value.
    fn word(&mut self) -> u64 {
        let page = |base: u64, random: &mut Random| base + random.below(512) * 8;
        let random = &mut self.random;
        match random.below(12) {
            0 => 0,
            1 => page(self.outer.memory, random),
            2 => page(0x4a00_0000, random),
            3 => page(GATE, random),
            4 => random.one_of(&[TEXT_WINDOW, DATA_WINDOW, CPU_BLOCKS, PHYSMAP + 0x4fc0_0000]),
            5 => random.one_of(&[OUTER, INNER, STRICT_MIDDLE, GATE_REPAIR, REASON_MISMATCH]),
            6 => random.below(64),
            // PSCI: CPU_ON, SYSTEM_OFF, SYSTEM_RESET, CPU_SUSPEND.
            7 => random.one_of(&[0xc400_0003, 0x8400_0008, 0x8400_0009, 0xc400_0001]),
            8 => self.outer.text,
            9 => 1 << random.below(64),
            _ => random.any(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::map::tests::map;
    use super::*;

    fn starts(part: u64, count: usize) -> Vec<Start> {
        let outer = Outer {
            text: 0xffff_c000_8001_2000,
            memory: 0xffff_8000_0800_0000,
        };
        let mut starts = Starts::new(3, part, &map(), outer);
        (0..count).map(|_| starts.next()).collect()
    }

    #[test]
    fn the_runs_of_a_test_have_all_classes_masks_and_stacks() {
        let starts = starts(0, 500);
        let classes: BTreeSet<Class> = starts.iter().map(|it| it.class).collect();
        assert_eq!(classes.len(), 8);
        let masks: BTreeSet<u64> = starts.iter().map(|it| it.pstate & DAIF).collect();
        assert_eq!(masks.len(), 16);
        let stacks: BTreeSet<u64> = starts.iter().map(|it| it.stacks[0]).collect();
        assert_eq!(stacks.len(), 11);
        assert!(starts.iter().any(|it| it.pstate & 1 == 0), "no EL1t");
        let functions: BTreeSet<u64> = starts.iter().map(|it| it.general[0]).collect();
        assert!((0..CORE_FUNCTIONS as u64).all(|it| functions.contains(&it)));
    }

    #[test]
    fn a_long_run_starts_at_every_word_of_gate_and_slots() {
        // As 10,000 are shared out among two CPU models.
        let all = [starts(0, 5000), starts(1, 5000)].concat();
        let targets: BTreeSet<u64> = all.iter().map(|it| it.target).collect();
        assert!((0..1024).all(|word| targets.contains(&(GATE + word * 4))));
        let vectors = map().vectors;
        for word in (0..SLOTS).flat_map(|slot| (0..8).map(move |it| slot * SLOT + it * 4)) {
            assert!(targets.contains(&(vectors + word)), "{word:#x}");
        }
    }

    #[test]
    fn a_disturbance_is_open_where_it_has_to_come_through() {
        for start in starts(0, 2000) {
            match start.class {
                Class::Step => assert_eq!(start.pstate & (SINGLE_STEP | DEBUG_MASK), SINGLE_STEP),
                Class::Breakpoint => assert_eq!(start.pstate & DEBUG_MASK, 0),
                Class::Interrupt => assert_eq!(start.pstate & INTERRUPT_MASK, 0),
                _ => assert_eq!(start.debug, 0),
            }
        }
    }
}
