// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random states and words from a fixed seed.

use donjon_flow_chain::State;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A generator whose whole course follows from its seed.
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// Begins the course of a seed.
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Draws a number of 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Draws a state of 256 bits.
    pub fn state(&mut self) -> State {
        State([self.word(), self.word(), self.word(), self.word()])
    }

    /// Draws the address of an instruction in 1 MiB of text.
    pub fn address(&mut self) -> u64 {
        0x40_0000 + 4 * (self.word() >> 46)
    }
}
