// SPDX-License-Identifier: MIT OR Apache-2.0
//! The attack on the old record, with more help than it can have, against the record as it is.

use donjon_flow_chain::State;
use donjon_models::flow::random::Random;

const TRIES: u64 = 2_000_000;

/// Words that are equal in two states, the one that words are injected into aside.
fn equal(left: State, right: State) -> usize {
    let pairs = left.0.iter().zip(right.0).skip(1);
    pairs.filter(|(left, right)| **left == *right).count()
}

/// An oracle tells the attacker the difference in x22 before each further record, so that the word
/// takes it away. In half of the tries the illegal target differs in one bit.
#[test]
fn no_other_word_of_the_state_becomes_equal_though_x22_is_mended_each_time() {
    let mut random = Random::new(5);
    for number in 0..TRIES {
        let difference = match number % 128 {
            bit @ 0..64 => 1 << bit,
            _ => random.word(),
        };
        let (start, word) = (random.state(), random.address());
        let mut legal = start.absorb(word);
        let mut attacked = start.absorb(word ^ difference);
        assert_eq!(
            equal(legal, attacked),
            0,
            "{start:?} {word:#x} {difference:#x}"
        );
        for record in 0..4 {
            let word = random.address();
            let mended = word ^ legal.0[0] ^ attacked.0[0];
            legal = legal.absorb(word);
            attacked = attacked.absorb(mended);
            assert_eq!(
                equal(legal, attacked),
                0,
                "{start:?} {difference:#x} {record}"
            );
        }
    }
}

/// What a jump behind the injection does is a permutation that depends on no operand.
#[test]
fn a_jump_behind_the_injection_injects_nothing() {
    let mut random = Random::new(6);
    for _ in 0..1_000 {
        let (state, words) = (random.state(), [random.word(), random.word()]);
        for first in 1..=donjon_flow_chain::STEPS {
            let ends = words.map(|word| state.absorb_from(word, first));
            assert_eq!(ends[0], ends[1]);
        }
    }
}
