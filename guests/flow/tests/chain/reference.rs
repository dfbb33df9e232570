// SPDX-License-Identifier: MIT OR Apache-2.0
//! A record as a list of the operations of SipRound, in the order in which SipHash's authors
//! publish them, and SipHash itself as the witness that the list is theirs.

use donjon_flow_chain::State;
use donjon_models::flow::random::Random;

/// An operation of SipRound. Operands are numbers of words.
#[derive(Clone, Copy)]
enum Operation {
    Add(usize, usize),
    Rotate(usize, u32),
    Xor(usize, usize),
}

use Operation::{Add, Rotate, Xor};

/// SipRound in full.
const ROUND: [Operation; 14] = [
    Add(0, 1),
    Add(2, 3),
    Rotate(1, 13),
    Rotate(3, 16),
    Xor(1, 0),
    Xor(3, 2),
    Rotate(0, 32),
    Add(2, 1),
    Add(0, 3),
    Rotate(1, 17),
    Rotate(3, 21),
    Xor(1, 2),
    Xor(3, 0),
    Rotate(2, 32),
];

/// Carries out operations on a state, one after the other.
fn run(state: &mut [u64; 4], operations: &[Operation]) {
    for operation in operations {
        match *operation {
            Add(to, from) => state[to] = state[to].wrapping_add(state[from]),
            Rotate(word, bits) => state[word] = state[word].rotate_left(bits),
            Xor(to, from) => state[to] ^= state[from],
        }
    }
}

/// Absorbs a word: all of a round but its two first additions, then the next round up to its two
/// additions in the middle.
pub fn absorb(state: State, word: u64) -> State {
    let mut words = state.0;
    words[0] ^= word;
    run(&mut words, &ROUND[2..]);
    run(&mut words, &ROUND[..9]);
    State(words)
}

/// Computes SipHash-2-4 of whole words and a last one, which holds the length.
fn siphash(key: [u64; 2], words: &[u64]) -> u64 {
    let start = b"somepseudorandomlygeneratedbytes";
    let (chunks, _) = start.as_chunks::<8>();
    let mut state: [u64; 4] =
        std::array::from_fn(|word| u64::from_be_bytes(chunks[word]) ^ key[word % 2]);
    for word in words {
        state[3] ^= word;
        run(&mut state, &ROUND.repeat(2));
        state[0] ^= word;
    }
    state[2] ^= 0xff;
    run(&mut state, &ROUND.repeat(4));
    state[0] ^ state[1] ^ state[2] ^ state[3]
}

/// The example in the appendix of the paper "SipHash: a fast short-input PRF".
#[test]
fn the_list_of_operations_is_the_published_siphash() {
    let key = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
    let words = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
    assert_eq!(siphash(key, &words), 0xa129_ca61_49be_45e5);
}

#[test]
fn a_record_is_one_and_a_half_rounds_of_the_published_definition() {
    let mut random = Random::new(4);
    for _ in 0..1_000 {
        let (state, word) = (random.state(), random.word());
        assert_eq!(state.absorb(word), absorb(state, word));
    }
}
