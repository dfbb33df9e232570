// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loads and stores with exclusive monitor, acquire and release.

use super::{Instruction, Word};

/// Decodes an exclusive or ordered load or store.
pub fn decode(word: Word) -> Option<Instruction> {
    let (ordered, load, pair) = (word.bit(23), word.bit(22), word.bit(21));
    let (status, first, second) = (word.m(), word.d(), word.a());
    let plain = Instruction::PLAIN.reading(word.n());
    if !pair && second != 31 || pair && !word.bit(31) {
        return None;
    }
    let data = |it: Instruction, number| {
        if load {
            it.writing(number)
        } else {
            it.reading(number)
        }
    };
    if ordered {
        let known = word.bit(15) && !pair && status == 31;
        return known.then_some(data(plain, first));
    }
    let moved = data(plain, first);
    let moved = if pair { data(moved, second) } else { moved };
    if load {
        let known = status == 31 && !(pair && first == second);
        return known.then_some(moved);
    }
    // Unpredictable.
    let twice = status == first || pair && status == second || status == word.n() && word.n() != 31;
    (!twice).then_some(moved.writing(status))
}
