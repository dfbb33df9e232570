// SPDX-License-Identifier: MIT OR Apache-2.0
//! The record of 13 instructions that was planned first, and that is forged.
//!
//! It injects its word twice, into x25 before one SipRound and into x22 behind it.

use donjon_flow_chain::State;

/// Steps of an old record that change the state.
pub const STEPS: usize = 12;

/// The last step alone: it exclusive-ors a word into x22.
pub const LAST: usize = STEPS - 1;

/// Carries out one step of an old record.
pub fn step(state: State, word: u64, number: usize) -> State {
    let [mut a, mut b, mut c, mut d] = state.0;
    match number {
        0 => d ^= word,
        1 => a = a.wrapping_add(b),
        2 => b = a ^ b.rotate_left(13),
        3 => a = a.rotate_left(32),
        4 => c = c.wrapping_add(d),
        5 => d = c ^ d.rotate_left(16),
        6 => a = a.wrapping_add(d),
        7 => d = a ^ d.rotate_left(21),
        8 => c = c.wrapping_add(b),
        9 => b = c ^ b.rotate_left(17),
        10 => c = c.rotate_left(32),
        LAST => a ^= word,
        _ => {}
    }
    State([a, b, c, d])
}

/// Carries out the steps of an old record from number `first` on, as a jump into it does.
pub fn absorb_from(state: State, word: u64, first: usize) -> State {
    (first..STEPS).fold(state, |state, number| step(state, word, number))
}

/// Absorbs a word by a whole old record.
pub fn absorb(state: State, word: u64) -> State {
    absorb_from(state, word, 0)
}
