// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loads and stores of structures in vectors.

use super::{Instruction, Word};

/// Decodes a load or store of structures.
pub fn decode(word: Word) -> Option<Instruction> {
    let moves = word.bit(23);
    let bytes = if word.bit(24) {
        lane(word)?
    } else {
        whole(word)?
    };
    let plain = Instruction::PLAIN.reading(word.n());
    match (moves, word.m()) {
        (false, 0) => Some(plain),
        (false, _) => None,
        (true, 31) => Some(plain.writing(word.n()).stepping(word.n(), bytes, true)),
        (true, offset) => Some(plain.writing(word.n()).reading(offset)),
    }
}

/// Returns how many bytes whole vectors have.
fn whole(word: Word) -> Option<i64> {
    let vectors = match word.bits(15, 12) {
        0b0000 | 0b0010 => 4,
        0b0100 | 0b0110 => 3,
        0b0111 => 1,
        0b1000 | 0b1010 => 2,
        _ => return None,
    };
    let interleaved = matches!(word.bits(15, 12), 0b0000 | 0b0100 | 0b1000);
    let exists = !interleaved || word.bit(30) || word.bits(11, 10) != 3;
    (exists && !word.bit(21)).then_some(vectors * if word.bit(30) { 16 } else { 8 })
}

/// Returns how many bytes one lane of each vector has.
fn lane(word: Word) -> Option<i64> {
    let size = word.bits(11, 10);
    let bytes = match (word.bits(15, 14), size, word.bit(12)) {
        (0, ..) => 1,
        (1, 0 | 2, _) => 2,
        (2, 0, _) => 4,
        (2, 1, false) => 8,
        (3, _, false) if word.bit(22) => 1 << size,
        _ => return None,
    };
    let vectors = 1 + i64::from(word.bits(13, 13)) * 2 + i64::from(word.bits(21, 21));
    Some(vectors * bytes)
}
