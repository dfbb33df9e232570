// SPDX-License-Identifier: MIT OR Apache-2.0
//! How often the differences of a trail end as the trail says, with true additions.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::record::Record;

/// Counts in how many tries two states become equal but for the words that are injected into. The
/// states and words of each try are drawn by chance, and the injections differ as given.
pub fn count(record: &Record, differences: &[u64], seed: u64, tries: u64) -> u64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let injected = record.injected();
    let mut met = 0;
    for _ in 0..tries {
        let start: [u64; 4] = std::array::from_fn(|_| random.next_u64() & record.mask());
        let (mut left, mut right) = (start, start);
        for differences in differences.chunks(injected.len()) {
            let words: [u64; 2] = std::array::from_fn(|_| random.next_u64() & record.mask());
            let mut changed = words;
            for (word, difference) in changed.iter_mut().zip(differences) {
                *word ^= difference;
            }
            left = record.run(left, &mut words.into_iter());
            right = record.run(right, &mut changed.into_iter());
        }
        let equal = |word: usize| injected.contains(&word) || left[word] == right[word];
        met += u64::from((0..4).all(equal));
    }
    met
}
