// SPDX-License-Identifier: MIT OR Apache-2.0
//! What repeated jumps to one place behind the injection do: no word comes back.

use donjon_flow_chain::{STEPS, State};
use donjon_models::flow::old;
use donjon_models::flow::random::Random;

/// Runs a function on a state again and again.
fn repeat(state: State, runs: usize, run: impl Fn(State) -> State) -> State {
    (0..runs).fold(state, |state, _| run(state))
}

#[test]
fn the_last_steps_of_an_old_record_are_undone_by_running_them_again() {
    let mut random = Random::new(7);
    for _ in 0..1_000 {
        let state = random.state();
        let after = |first, runs| repeat(state, runs, |state| old::absorb_from(state, 0, first));
        assert_eq!(after(10, 2), state);
        assert_eq!(after(9, 128), state);
    }
}

/// An old record whose first addition stands last. 64 runs from the step that changes x23 on add
/// all rotations of a word, which is minus the number of its bits: often -32.
#[test]
fn an_addition_behind_steps_of_a_finite_order_adds_a_known_number() {
    const TRIES: usize = 20_000;
    let mut random = Random::new(8);
    let run = |state| {
        let steps = [9, 10, 1];
        steps
            .into_iter()
            .fold(state, |state, step| old::step(state, 0, step))
    };
    let added = |_: &usize| {
        let state = random.state();
        let mut expected = state;
        expected.0[0] = expected.0[0].wrapping_sub(32);
        repeat(state, 64, run) == expected
    };
    let count = (0..TRIES).filter(added).count();
    println!("{count} of {TRIES} states");
    assert!((160..=300).contains(&count), "{count}");
}

/// The numbers of the words that the steps of a record from number `first` on change.
fn changed(first: usize) -> Vec<usize> {
    let start = Random::new(first as u64).state();
    let end = start.absorb_from(0, first);
    (0..4)
        .filter(|&word| start.0[word] != end.0[word])
        .collect()
}

/// Runs a suffix of a record on two states and watches the words that it changes.
fn watch(starts: [State; 2], first: usize, runs: usize) {
    let words = changed(first);
    let mut now = starts;
    for run in 0..runs {
        now = now.map(|state| state.absorb_from(0, first));
        for &word in &words {
            let [left, right] = [0, 1].map(|pair| (starts[pair].0[word], now[pair].0[word]));
            let place = || format!("{starts:?}, from step {first}, {run} runs, word {word}");
            assert!(left.0 != left.1 && right.0 != right.1, "back: {}", place());
            let sums = [left, right].map(|(from, to)| to.wrapping_sub(from));
            assert_ne!(sums[0], sums[1], "one sum: {}", place());
            assert_ne!(left.0 ^ left.1, right.0 ^ right.1, "one shift: {}", place());
        }
    }
}

#[test]
fn no_word_that_a_part_of_a_record_changes_comes_back_or_moves_alike_in_two_states() {
    let mut random = Random::new(9);
    for first in 1..STEPS {
        for _ in 0..40 {
            watch([random.state(), random.state()], first, 65_536);
        }
    }
}

#[test]
fn each_part_of_a_record_changes_the_words_that_its_steps_name() {
    assert_eq!(changed(STEPS - 1), [2]);
    assert_eq!(changed(STEPS - 2), [0, 2]);
    assert_eq!(changed(STEPS - 3), [0, 2, 3]);
    assert_eq!(changed(1), [0, 1, 2, 3]);
}
