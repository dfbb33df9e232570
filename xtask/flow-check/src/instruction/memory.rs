// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loads and stores.

use super::{Instruction, Word, exclusive, structure};

/// Decodes an instruction of the group of loads and stores.
pub fn decode(word: Word) -> Option<Instruction> {
    match (word.bits(29, 28), word.bit(26)) {
        (0, false) if word.bits(25, 24) == 0 => exclusive::decode(word),
        (0, true) if !word.bit(31) => structure::decode(word),
        (1, _) if word.bits(25, 24) == 0 => literal(word),
        (2, _) if !word.bit(25) => pair(word),
        (3, _) if !word.bit(25) => single(word),
        _ => None,
    }
}

fn literal(word: Word) -> Option<Instruction> {
    match (word.bits(31, 30), word.bit(26)) {
        (3, true) => None,
        // A prefetch.
        (3, false) | (_, true) => Some(Instruction::PLAIN),
        (_, false) => Some(Instruction::PLAIN.writing(word.d())),
    }
}

/// Returns the instruction with a base that it moves by a constant.
fn moving(instruction: Instruction, word: Word, by: i64) -> Instruction {
    instruction.writing(word.n()).stepping(word.n(), by, true)
}

fn pair(word: Word) -> Option<Instruction> {
    let (vector, load, size) = (word.bit(26), word.bit(22), word.bits(31, 30));
    let streaming = word.bits(24, 23) == 0;
    let moves = word.bit(23);
    let signed = !vector && size == 1;
    if size == 3 || signed && (!load || streaming) {
        return None;
    }
    let (first, second) = (word.d(), word.a());
    // Unpredictable.
    if load && first == second
        || !vector && moves && word.n() != 31 && (word.n() == first || word.n() == second)
    {
        return None;
    }
    let mut plain = Instruction::PLAIN.reading(word.n());
    if !vector {
        plain = if load {
            plain.writing(first).writing(second)
        } else {
            plain.reading(first).reading(second)
        };
    }
    let bytes = match (vector, size) {
        (true, _) => 4 << size,
        (false, 2) => 8,
        (false, _) => 4,
    };
    Some(if moves {
        moving(plain, word, bytes * word.signed(21, 15))
    } else {
        plain
    })
}

/// Decodes a load or store of one register.
fn single(word: Word) -> Option<Instruction> {
    if word.bit(24) {
        return transfer(word, true);
    }
    if word.bit(21) {
        // An offset in a register; the others are atomic operations.
        let known = word.bits(11, 10) == 2 && word.bit(14);
        return known.then_some(transfer(word, true)?.reading(word.m()));
    }
    match word.bits(11, 10) {
        0 => transfer(word, true),
        1 | 3 if !word.bit(26) && word.n() != 31 && word.n() == word.d() => None,
        1 | 3 => Some(moving(transfer(word, false)?, word, word.signed(20, 12))),
        _ => None,
    }
}

/// Decodes size and direction of a load or store of one register.
fn transfer(word: Word, may_prefetch: bool) -> Option<Instruction> {
    let plain = Instruction::PLAIN.reading(word.n());
    let (size, direction) = (word.bits(31, 30), word.bits(23, 22));
    if word.bit(26) {
        return (size == 0 || direction < 2).then_some(plain);
    }
    match (size, direction) {
        (_, 0) => Some(plain.reading(word.d())),
        (_, 1) | (0..=2, 2) | (0 | 1, 3) => Some(plain.writing(word.d())),
        (3, 2) if may_prefetch => Some(plain),
        _ => None,
    }
}
