// SPDX-License-Identifier: MIT OR Apache-2.0
//! The control: the old record is forged in 2^9 tries by three records and three single steps.

use donjon_flow_chain::State;

use crate::log::{encode, tag, verify};
use crate::old::{LAST, absorb, absorb_from};
use crate::random::Random;

const TRIES: usize = 20_000;

/// Runs the repair behind an illegal target. The attacker knows the two words that the chain
/// should have absorbed next, and the difference of the first one, and never sees the state.
fn repair(state: State, difference: u64, next: [u64; 2]) -> State {
    let d = difference;
    let spread = d ^ d.rotate_left(16);
    let state = absorb_from(state, d ^ spread ^ d ^ d.rotate_left(13), LAST);
    let second = next[0] ^ spread ^ spread.rotate_left(21) ^ d.rotate_left(32);
    let state = absorb(state, second);
    let left = d.rotate_left(45) ^ d.rotate_left(48);
    let state = absorb_from(state, left ^ next[0] ^ second, LAST);
    let last = left ^ d.rotate_left(5);
    absorb_from(absorb(state, next[1] ^ last), last, LAST)
}

/// Counts in how many of the tries the illegal target ends in the state of the legal one.
fn forgeries(seed: u64, difference: u64) -> usize {
    let mut random = Random::new(seed);
    let forged = |_: &usize| {
        let start = random.state();
        let words = [random.address(), random.address(), random.address()];
        let hijacked = absorb(start, words[0] ^ difference);
        repair(hijacked, difference, [words[1], words[2]]) == tag(absorb, start, &words)
    };
    (0..TRIES).filter(forged).count()
}

#[test]
fn an_illegal_target_that_differs_in_one_bit_is_forged_within_a_thousand_tries() {
    let forged = forgeries(1, 1 << 5);
    println!("{forged} of {TRIES} forged");
    assert!(forged >= 20, "{forged}");
}

#[test]
fn a_difference_in_bit_63_is_forged_within_forty_tries() {
    let forged = forgeries(2, 1 << 63);
    println!("{forged} of {TRIES} forged");
    assert!(forged >= 500, "{forged}");
}

/// The lawful returns are one address in two: those whose bit 5 is clear.
#[test]
fn a_verifier_of_old_records_accepts_the_log_of_a_run_with_an_illegal_return() {
    let mut random = Random::new(3);
    let lawful = |words: &[u64]| words.iter().all(|word| word & 1 << 5 == 0);
    let mut accepted = 0;
    for _ in 0..TRIES {
        let start = random.state();
        let shown: [u64; 8] = std::array::from_fn(|_| random.address() & !(1 << 5));
        let mut ran = shown;
        ran[3] ^= 1 << 5;
        let log = encode(&shown);

        let hijacked = tag(absorb, start, &ran[..4]);
        assert!(!verify(absorb, start, &encode(&ran[..4]), hijacked, lawful));
        let repaired = repair(hijacked, 1 << 5, [shown[4], shown[5]]);
        let end = tag(absorb, repaired, &shown[6..]);
        accepted += usize::from(verify(absorb, start, &log, end, lawful));

        assert!(verify(
            absorb,
            start,
            &log,
            tag(absorb, start, &shown),
            lawful
        ));
        assert!(!verify(
            absorb,
            start,
            &log,
            tag(absorb, start, &ran),
            lawful
        ));
    }
    println!("{accepted} of {TRIES} logs accepted");
    assert!(accepted >= 20, "{accepted}");
}
