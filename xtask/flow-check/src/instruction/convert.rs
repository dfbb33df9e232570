// SPDX-License-Identifier: MIT OR Apache-2.0
//! Moves and conversions between general and vector registers.

use super::{Instruction, Word};

/// Decodes a conversion between integer and floating point, or a move between their registers.
pub fn integer(word: Word) -> Option<Instruction> {
    let (kind, wide) = (word.bits(23, 22), word.bit(31));
    let (mode, operation) = (word.bits(20, 19), word.bits(18, 16));
    let single_or_double = kind < 2;
    let known = match (mode, operation) {
        (_, 0 | 1) | (0, 2..=5) => single_or_double,
        (0, 6 | 7) => kind == u32::from(wide),
        (1, 6 | 7) => kind == 2 && wide,
        _ => false,
    };
    known.then_some(match operation {
        2 | 3 | 7 => Instruction::PLAIN.reading(word.n()),
        _ => Instruction::PLAIN.writing(word.d()),
    })
}

/// Decodes a conversion between fixed and floating point.
pub fn fixed(word: Word) -> Option<Instruction> {
    if word.bits(23, 22) > 1 || !word.bit(31) && !word.bit(15) {
        return None;
    }
    match (word.bits(20, 19), word.bits(18, 16)) {
        (0, 2 | 3) => Some(Instruction::PLAIN.reading(word.n())),
        (3, 0 | 1) => Some(Instruction::PLAIN.writing(word.d())),
        _ => None,
    }
}

/// Decodes a copy into or out of a vector's lane.
pub fn copy(word: Word) -> Option<Instruction> {
    let lane = word.m();
    if lane & 0xf == 0 {
        return None;
    }
    let size = lane.trailing_zeros();
    let full = word.bit(30);
    let plain = Instruction::PLAIN;
    if word.bit(29) {
        // From lane to lane.
        return full.then_some(plain);
    }
    match word.bits(14, 11) {
        0b0000 => (full || size < 3).then_some(plain),
        0b0001 => (full || size < 3).then_some(plain.reading(word.n())),
        0b0011 => full.then_some(plain.reading(word.n())),
        0b0101 => (size < if full { 3 } else { 2 }).then_some(plain.writing(word.d())),
        0b0111 => ((size == 3) == full).then_some(plain.writing(word.d())),
        _ => None,
    }
}
