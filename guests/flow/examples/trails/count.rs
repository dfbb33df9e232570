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

/// Counts, over all pairs of injected words in two records of 8-bit words, how many others end in
/// a state that differs in no word but the one that is injected into. Each state is drawn anew.
///
/// For a random function it would be one in 2^8 states. No trail of two records can have a higher
/// probability than this number, as it is the sum over all of them.
pub fn pairs(record: &Record, seed: u64, states: u64) -> u64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut met = 0;
    for _ in 0..states {
        let start: [u64; 4] = std::array::from_fn(|_| random.next_u64() & record.mask());
        let end = |words: u64| {
            let mut words = [words & 0xff, words >> 8].into_iter();
            let middle = record.run(start, &mut words);
            record.run(middle, &mut words)
        };
        let lawful = random.next_u64() & 0xffff;
        let wanted = end(lawful);
        let others = (0..1 << 16).filter(|&words| words != lawful);
        met += others
            .filter(|&words| end(words)[1..] == wanted[1..])
            .count() as u64;
    }
    met
}
