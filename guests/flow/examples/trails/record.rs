// SPDX-License-Identifier: MIT OR Apache-2.0
//! Records that are searched: the one of the crate, and others that it is compared with.

/// A step of a record. Operands are numbers of words of the state.
#[derive(Clone, Copy)]
pub enum Step {
    /// Exclusive-ors what the attacker chooses into a word.
    Inject(usize),
    /// Adds the second word to the first one.
    Add(usize, usize),
    /// Rotates the first word left and exclusive-ors the second one into it.
    Mix(usize, usize, u32),
    /// Rotates a word left.
    Rotate(usize, u32),
}

use Step::{Add, Inject, Mix, Rotate};

/// A record by its name.
#[derive(Clone)]
pub struct Record {
    /// What the command line calls it.
    pub name: &'static str,
    /// What the attacker has in it.
    pub about: &'static str,
    /// The record's steps behind the `str`.
    pub steps: Vec<Step>,
    /// Bits of a word: 64, or fewer in a small model of the record.
    pub width: u32,
}

/// The ten steps of a SipRound, as instructions.
const ROUND: [Step; 10] = [
    Add(0, 1),
    Mix(1, 0, 13),
    Rotate(0, 32),
    Add(2, 3),
    Mix(3, 2, 16),
    Add(0, 3),
    Mix(3, 0, 21),
    Add(2, 1),
    Mix(1, 2, 17),
    Rotate(2, 32),
];

/// The fifteen steps of a record behind its injection.
const HELD: [Step; 15] = [
    Mix(1, 0, 13),
    Rotate(0, 32),
    Mix(3, 2, 16),
    Add(0, 3),
    Mix(3, 0, 21),
    Add(2, 1),
    Mix(1, 2, 17),
    Rotate(2, 32),
    Add(0, 1),
    Mix(1, 0, 13),
    Rotate(0, 32),
    Add(2, 3),
    Mix(3, 2, 16),
    Add(0, 3),
    Add(2, 1),
];

impl Record {
    /// Puts a record together.
    fn new(name: &'static str, about: &'static str, parts: [&[Step]; 3]) -> Self {
        let steps = parts.concat();
        Self {
            name,
            about,
            steps,
            width: 64,
        }
    }

    /// Lists all records.
    pub fn all() -> Vec<Self> {
        let twice = ROUND.repeat(2);
        vec![
            Self::new(
                "record",
                "the record: x22 first",
                [&[Inject(0)], &HELD, &[]],
            ),
            Self::new(
                "x24-too",
                "the record, if x24 could be changed as well",
                [&[Inject(0), Inject(2)], &HELD, &[]],
            ),
            Self::new(
                "x23-too",
                "the record, if x23 could be changed as well",
                [&[Inject(0), Inject(1)], &HELD, &[]],
            ),
            Self::new(
                "x25-too",
                "the record, if x25 could be changed as well",
                [&[Inject(0), Inject(3)], &HELD, &[]],
            ),
            Self::new(
                "old",
                "one round, x25 first and x22 last",
                [&[Inject(3)], &ROUND, &[Inject(0)]],
            ),
            Self::new(
                "one-round",
                "one round, x25 first",
                [&[Inject(3)], &ROUND, &[]],
            ),
            Self::new(
                "one-round-x24-too",
                "one round, x25 first, if x24 could be changed as well",
                [&[Inject(3), Inject(2)], &ROUND, &[]],
            ),
            Self::new(
                "two-rounds",
                "two rounds, x25 first",
                [&[Inject(3)], &twice, &[]],
            ),
            Self::new(
                "two-rounds-old",
                "two rounds, x25 first and x22 last",
                [&[Inject(3)], &twice, &[Inject(0)]],
            ),
        ]
    }

    /// Finds a record by its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|record| record.name == name)
    }

    /// Lists the words that differences are injected into.
    pub fn injected(&self) -> Vec<usize> {
        let words = self.steps.iter().filter_map(|step| match step {
            Inject(word) => Some(*word),
            _ => None,
        });
        words.collect()
    }

    /// Scales a number of bits that a word is rotated by down to the record's width. Half a word
    /// stays half a word, an odd number odd, and no two neighbours become one.
    pub fn scaled(&self, bits: u32) -> u32 {
        let numbers = match self.width {
            64 => return bits,
            32 => [5, 8, 7, 13],
            16 => [3, 4, 5, 7],
            _ => [1, 2, 3, 5],
        };
        match bits {
            13 => numbers[0],
            16 => numbers[1],
            21 => numbers[2],
            17 => numbers[3],
            _ => self.width / 2,
        }
    }

    /// The mask of a word's bits.
    pub fn mask(&self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    /// Rotates a word of the record's width left, by a number of bits that is scaled down.
    pub fn rotate(&self, word: u64, bits: u32) -> u64 {
        let bits = self.scaled(bits);
        (word << bits | word >> (self.width - bits)) & self.mask()
    }

    /// Carries out the record with true additions. `words` has what is injected.
    pub fn run(&self, mut state: [u64; 4], words: &mut impl Iterator<Item = u64>) -> [u64; 4] {
        for step in &self.steps {
            match *step {
                Inject(to) => state[to] ^= words.next().unwrap_or(0),
                Add(to, from) => state[to] = state[to].wrapping_add(state[from]) & self.mask(),
                Mix(to, from, bits) => state[to] = state[from] ^ self.rotate(state[to], bits),
                Rotate(to, bits) => state[to] = self.rotate(state[to], bits),
            }
        }
        state
    }
}
