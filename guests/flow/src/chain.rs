// SPDX-License-Identifier: MIT OR Apache-2.0
//! The chain: a state of 256 bits that a program keeps in x22 to x25.

/// The state of a chain. Word N is register x(22 + N) of the program.
///
/// It begins as 256 random bits that the inner domain draws, and as a whole it is the tag of a
/// segment of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State(pub [u64; 4]);

/// Steps of a record that change the state: one injection, and fifteen steps of SipRound.
pub const STEPS: usize = 16;

impl State {
    /// Absorbs a word, as the 16 instructions of a record behind its `str` do.
    pub const fn absorb(self, word: u64) -> Self {
        self.absorb_from(word, 0)
    }

    /// Carries out the steps of a record from number `first` (0 to 15) on: what a jump into a
    /// record does. From 16 on nothing changes.
    pub const fn absorb_from(mut self, word: u64, first: usize) -> Self {
        let mut step = first;
        while step < STEPS {
            self = self.step(step, word);
            step += 1;
        }
        self
    }

    /// Carries out one step of a record. Only step 0 uses the word.
    const fn step(self, number: usize, word: u64) -> Self {
        let [mut a, mut b, mut c, mut d] = self.0;
        match number {
            0 => a ^= word,
            1 | 10 => b = a ^ b.rotate_left(13),
            2 | 11 => a = a.rotate_left(32),
            3 | 13 => d = c ^ d.rotate_left(16),
            4 | 14 => a = a.wrapping_add(d),
            5 => d = a ^ d.rotate_left(21),
            6 | 15 => c = c.wrapping_add(b),
            7 => b = c ^ b.rotate_left(17),
            8 => c = c.rotate_left(32),
            9 => a = a.wrapping_add(b),
            12 => c = c.wrapping_add(d),
            _ => {}
        }
        Self([a, b, c, d])
    }
}
