// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random sequences of calls.

use donjon_core::checks::Configured;
use donjon_core::translation::Step;
use donjon_models::space;
use donjon_models::space::counters::Counters;
use donjon_models::space::memory::Violation;
use donjon_models::space::random::Random;
use donjon_models::space::run::{Conditions, Lost};

/// Calls of one run, from a fresh machine.
const CALLS: u64 = if cfg!(miri) { 20 } else { 25_000 };
/// Runs of each of the two threads.
const RUNS: u64 = if cfg!(miri) { 1 } else { 45 };

fn run(seed: u64, deaf_to: Option<Lost>) -> Result<Counters, (u64, Vec<Violation>)> {
    let conditions = Conditions {
        deaf_to,
        ..Conditions::default()
    };
    space::run::run::<Configured>(Random::new(seed), CALLS, conditions)
}

fn runs(seeds: impl Iterator<Item = u64>) {
    let counters = seeds.map(|seed| match run(seed, None) {
        Ok(counters) => counters,
        Err((call, violations)) => panic!("seed {seed}, call {call}: {violations:#?}"),
    });
    let sum = counters.fold(Counters::default(), Counters::plus);
    println!("{sum:?}");
    assert!(cfg!(miri) || sum.has_everything(), "not tried: {sum:?}");
}

#[test]
fn no_sequence_of_calls_breaks_an_invariant() {
    runs((0..2 * RUNS).step_by(2));
}

#[test]
#[cfg_attr(miri, ignore = "the same again")]
fn no_other_sequence_does() {
    runs((1..2 * RUNS).step_by(2));
}

/// Without any one kind of step the TLBs come to hold what they must not.
#[test]
#[cfg_attr(miri, ignore = "needs long sequences")]
fn each_kind_of_invalidation_and_barrier_is_needed() {
    let kinds: [(&str, Lost); 5] = [
        ("leaf", |it| matches!(it, Step::InvalidateLeaf { .. })),
        ("table", |it| matches!(it, Step::InvalidateTable { .. })),
        ("all", |it| it == Step::InvalidateAll),
        ("DSB ISHST", |it| it == Step::BarrierStore),
        ("DSB ISH", |it| it == Step::Barrier),
    ];
    for (name, lost) in kinds {
        let found = (0..20).find_map(|seed| run(seed, Some(lost)).err());
        let (call, violations) = found.unwrap_or_else(|| panic!("no test misses {name}"));
        println!("without {name}: call {call}, {}", violations[0]);
    }
}

/// Half of the invalidations of kernel leaves is for the address in the wide view.
#[test]
#[cfg_attr(miri, ignore = "needs long sequences")]
fn both_addresses_of_a_kernel_page_are_invalidated() {
    const ALIAS: u64 = 0xffff << 48;
    let lost: [Lost; 2] = [
        |it| matches!(it, Step::InvalidateLeaf { va } if va >> 47 == ALIAS >> 47),
        |it| matches!(it, Step::InvalidateLeaf { va } if va >> 47 == u64::MAX >> 47),
    ];
    for lost in lost {
        let found = (0..20).find_map(|seed| run(seed, Some(lost)).err());
        assert!(found.is_some(), "no test misses one of the two");
    }
}
