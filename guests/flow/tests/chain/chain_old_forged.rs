// SPDX-License-Identifier: MIT OR Apache-2.0
//! The control: the old record is forged in 2^9 tries by three records and three single steps.

use donjon_models::flow::forgery::{NEW, OLD, illegal_returns, repair};
use donjon_models::flow::log::tag;
use donjon_models::flow::random::Random;

const TRIES: usize = 20_000;

/// Counts in how many of the tries the illegal target ends in the state of the legal one.
fn forgeries(seed: u64, difference: u64) -> usize {
    let mut random = Random::new(seed);
    let forged = |_: &usize| {
        let start = random.state();
        let words = [random.address(), random.address(), random.address()];
        let hijacked = (OLD.absorb)(start, words[0] ^ difference);
        let repaired = repair(OLD, hijacked, difference, [words[1], words[2]]);
        repaired == tag(OLD.absorb, start, &words)
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

#[test]
fn a_verifier_of_old_records_accepts_the_log_of_a_run_with_an_illegal_return() {
    let old = illegal_returns(OLD, 3, TRIES);
    println!("{} of {TRIES} logs accepted", old.forged);
    assert!(old.forged >= 20, "{old:?}");
    assert_eq!((old.honest, old.plain), (TRIES, 0));
}

#[test]
fn a_verifier_of_records_as_they_are_does_not() {
    let new = illegal_returns(NEW, 3, TRIES);
    assert_eq!((new.forged, new.honest, new.plain), (0, TRIES, 0));
}
