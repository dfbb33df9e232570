// SPDX-License-Identifier: MIT OR Apache-2.0
//! The forgery of a record: three records and three single steps behind an illegal return.

use donjon_flow_chain::{STEPS, State};

use super::log::{Absorb, encode, tag, verify};
use super::old;
use super::random::Random;

/// The bit that is set in no lawful return address: one address in two is lawful.
const ILLEGAL: u64 = 1 << 5;

/// A record that an attacker uses: as a whole, and its last step alone, which a jump into the
/// record runs.
#[derive(Clone, Copy)]
pub struct Record {
    /// Absorbs a word.
    pub absorb: Absorb,
    /// Runs the last step with a word.
    pub last: Absorb,
}

/// The record that was planned first.
pub const OLD: Record = Record {
    absorb: old::absorb,
    last: |state, word| old::absorb_from(state, word, old::LAST),
};

/// The record that instrumented programs have.
pub const NEW: Record = Record {
    absorb: State::absorb,
    last: |state, word| state.absorb_from(word, STEPS - 1),
};

/// Runs the repair behind an illegal target. The attacker knows the two words that the chain
/// should have absorbed next, and the difference of the first one, and never sees the state.
pub fn repair(record: Record, state: State, difference: u64, next: [u64; 2]) -> State {
    let d = difference;
    let spread = d ^ d.rotate_left(16);
    let state = (record.last)(state, d ^ spread ^ d ^ d.rotate_left(13));
    let second = next[0] ^ spread ^ spread.rotate_left(21) ^ d.rotate_left(32);
    let state = (record.absorb)(state, second);
    let left = d.rotate_left(45) ^ d.rotate_left(48);
    let state = (record.last)(state, left ^ next[0] ^ second);
    let last = left ^ d.rotate_left(5);
    (record.last)((record.absorb)(state, next[1] ^ last), last)
}

/// What a verifier said of the logs of many runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// Logs of a lawful path, of runs with an illegal return behind which the attacker repaired
    /// the chain, that were accepted.
    pub forged: usize,
    /// Logs of the same paths, of runs that took them, that were accepted.
    pub honest: usize,
    /// Logs with an illegal return, or without a repair, that were accepted.
    pub plain: usize,
}

/// Shows a verifier the log of a lawful path after runs with one illegal return, `tries` times.
pub fn illegal_returns(record: Record, seed: u64, tries: usize) -> Verdicts {
    let mut random = Random::new(seed);
    let mut verdicts = Verdicts::default();
    let lawful = |words: &[u64]| words.iter().all(|word| word & ILLEGAL == 0);
    for _ in 0..tries {
        let start = random.state();
        let shown: [u64; 8] = std::array::from_fn(|_| random.address() & !ILLEGAL);
        let mut ran = shown;
        ran[3] ^= ILLEGAL;
        let log = encode(&shown);
        let is_accepted =
            |log: &[u8], end: State| usize::from(verify(record.absorb, start, log, end, lawful));
        let tag = |start, words: &[u64]| tag(record.absorb, start, words);

        let hijacked = tag(start, &ran[..4]);
        let repaired = repair(record, hijacked, ILLEGAL, [shown[4], shown[5]]);
        verdicts.forged += is_accepted(&log, tag(repaired, &shown[6..]));
        verdicts.honest += is_accepted(&log, tag(start, &shown));
        verdicts.plain += is_accepted(&log, tag(start, &ran));
        verdicts.plain += is_accepted(&encode(&ran[..4]), hijacked);
    }
    verdicts
}
