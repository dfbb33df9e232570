// SPDX-License-Identifier: MIT OR Apache-2.0
//! Absorbing is a bijection of the state, whatever the word: two states never become one.

use donjon_flow_chain::{STEPS, State};
use proptest::prelude::*;

use donjon_models::flow::old;

/// Takes the steps of a record from number `first` on back, the last one first.
fn take_back(state: State, word: u64, first: usize) -> State {
    let [mut a, mut b, mut c, mut d] = state.0;
    for step in (first..STEPS).rev() {
        match step {
            0 => a ^= word,
            1 | 10 => b = (b ^ a).rotate_right(13),
            2 | 11 => a = a.rotate_right(32),
            3 | 13 => d = (d ^ c).rotate_right(16),
            4 | 14 => a = a.wrapping_sub(d),
            5 => d = (d ^ a).rotate_right(21),
            6 | 15 => c = c.wrapping_sub(b),
            7 => b = (b ^ c).rotate_right(17),
            8 => c = c.rotate_right(32),
            9 => a = a.wrapping_sub(b),
            12 => c = c.wrapping_sub(d),
            _ => unreachable!("a record has {STEPS} steps"),
        }
    }
    State([a, b, c, d])
}

proptest! {
    #![proptest_config(crate::random::fixed(12))]

    #[test]
    fn what_a_record_or_a_part_of_it_did_can_be_taken_back(
        words: [u64; 4], word: u64, first in 0..=STEPS,
    ) {
        let state = State(words);
        prop_assert_eq!(take_back(state.absorb_from(word, first), word, first), state);
        let before = take_back(state, word, first);
        prop_assert_eq!(before.absorb_from(word, first), state);
    }

    #[test]
    fn absorbing_is_all_steps_of_a_record(words: [u64; 4], word: u64) {
        let state = State(words);
        prop_assert_eq!(state.absorb(word), state.absorb_from(word, 0));
        prop_assert_eq!(state.absorb_from(word, STEPS), state);
    }

    /// A state and two words: only the same word gives the same state.
    #[test]
    fn absorbing_is_a_bijection_of_the_word(words: [u64; 4], word: u64, difference in 1_u64..) {
        let state = State(words);
        prop_assert_ne!(state.absorb(word), state.absorb(word ^ difference));
    }

    /// The control: being a bijection did not help the old record.
    #[test]
    fn the_last_step_of_an_old_record_is_undone_by_itself(words: [u64; 4], word: u64) {
        let twice = (0..2).fold(State(words), |state, _| old::step(state, word, old::LAST));
        prop_assert_eq!(twice, State(words));
    }
}
