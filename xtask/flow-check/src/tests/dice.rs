// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pseudorandom numbers that a seed repeats.

/// A generator of pseudorandom numbers (xorshift64*).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        ((self.next() >> 32) as usize) % end
    }

    /// Says yes in `percent` of 100 cases.
    pub fn often(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}
