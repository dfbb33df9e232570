// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an outer domain chooses by: random numbers that are the same every time, or given bytes.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Numbers to choose by.
#[derive(Clone, Debug)]
pub struct Random(Source);

/// Where they come from.
#[derive(Clone, Debug)]
enum Source {
    /// Numbers look random.
    Seed(SplitMix64),
    /// Numbers are read from bytes; zeros follow.
    Bytes { bytes: Vec<u8>, at: usize },
}

impl Random {
    /// The sequence with a number. It never ends.
    pub fn new(seed: u64) -> Self {
        Self(Source::Seed(SplitMix64::seed_from_u64(seed)))
    }

    /// What some bytes say.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let bytes = bytes.to_vec();
        Self(Source::Bytes { bytes, at: 0 })
    }

    /// Whether all bytes were read.
    pub const fn is_over(&self) -> bool {
        match &self.0 {
            Source::Seed(_) => false,
            Source::Bytes { bytes, at } => *at >= bytes.len(),
        }
    }

    /// Any number.
    pub fn any(&mut self) -> u64 {
        self.number(u64::MAX)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.number(end - 1) % end
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// Chooses one of several.
    pub fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }

    /// A number; of bytes, no more are read than one up to `last` needs.
    fn number(&mut self, last: u64) -> u64 {
        match &mut self.0 {
            Source::Seed(generator) => generator.next_u64(),
            Source::Bytes { bytes, at } => {
                let count = (u64::BITS - last.leading_zeros()).div_ceil(8) as usize;
                let read = bytes.iter().skip(*at).take(count);
                *at += count;
                read.rev()
                    .fold(0, |word, byte| word << 8 | u64::from(*byte))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_and_all_sides_come_up() {
        let rolls = |seed| {
            let mut random = Random::new(seed);
            (0..64).map(|_| random.below(6)).collect::<Vec<_>>()
        };
        assert_eq!(rolls(1), rolls(1));
        assert_ne!(rolls(1), rolls(2));
        assert!((0..6).all(|side| rolls(1).contains(&side)));
        // Seeds that are written down somewhere must mean the same tomorrow.
        assert_eq!(Random::new(0).any(), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn bytes_are_read_as_far_as_a_choice_needs_them() {
        let mut random = Random::of_bytes(&[7, 0x34, 0x12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9]);
        assert_eq!(random.below(6), 1);
        assert_eq!(random.below(0x2000), 0x1234);
        assert_eq!(random.below(1), 0);
        assert_eq!(random.any(), 0x0807_0605_0403_0201);
        assert!(!random.is_over());
        // What is missing is zero.
        assert_eq!(random.below(1 << 36), 0x909);
        assert!(random.is_over());
        assert_eq!(random.any(), 0);
    }
}
