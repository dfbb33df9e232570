// SPDX-License-Identifier: MIT OR Apache-2.0
//! Floating point, and vector instructions for one lane.

use super::{Instruction, Word, convert, vector};

/// Decodes an instruction of floating point.
pub fn decode(word: Word) -> Option<Instruction> {
    let kind = word.bits(23, 22);
    if word.bit(24) {
        return (!word.bit(31) && kind < 2).then_some(Instruction::PLAIN);
    }
    if !word.bit(21) {
        return convert::fixed(word);
    }
    if word.bits(15, 10) == 0 {
        return convert::integer(word);
    }
    // Comparisons under a condition or without, and selections.
    let compares = word.bits(11, 10) == 0 && word.bits(13, 12) == 2;
    let (uses, sets) = match word.bits(11, 10) {
        1 => (true, true),
        3 => (true, false),
        _ => (false, compares),
    };
    let known = match word.bits(11, 10) {
        _ if word.bit(31) => false,
        1 | 3 => kind < 2,
        2 => kind < 2 && word.bits(15, 12) <= 8,
        _ if word.bit(12) => kind < 2 && word.n() == 0,
        _ if word.bit(13) => {
            let with_zero = word.bit(3);
            word.bits(15, 14) == 0
                && word.bits(2, 0) == 0
                && kind < 2
                && (!with_zero || word.m() == 0)
        }
        _ if word.bit(14) => one_operand(word, kind),
        _ => false,
    };
    known.then_some(Instruction::PLAIN.flags(uses, sets))
}

fn one_operand(word: Word, kind: u32) -> bool {
    matches!(
        (word.bits(20, 15), kind),
        (0..=3 | 7..=12 | 14 | 15, 0 | 1) | (4, 1 | 3) | (5, 0 | 3)
    )
}

/// Decodes a vector instruction for one lane.
pub fn decode_lane(word: Word) -> Option<Instruction> {
    let (size, inverse) = (word.bits(23, 22), word.bit(29));
    let known = if word.bit(24) {
        if word.bit(10) {
            !word.bit(23) && shift(word, inverse)
        } else {
            element(word, inverse, size)
        }
    } else if !word.bit(21) {
        let copied = word.bits(15, 10) == 1 && word.m() & 0xf != 0;
        copied && !inverse && size == 0
    } else if word.bit(10) {
        three_same(word, inverse, size)
    } else if !word.bit(11) {
        !inverse && matches!(word.bits(15, 12), 9 | 11 | 13) && matches!(size, 1 | 2)
    } else {
        match word.bits(20, 17) {
            0 => two(word, inverse, size),
            8 => pairwise(word, inverse, size),
            _ => false,
        }
    };
    known.then_some(Instruction::PLAIN)
}

fn three_same(word: Word, inverse: bool, size: u32) -> bool {
    match (word.bits(15, 11), inverse) {
        (0b00001 | 0b00101 | 0b01001 | 0b01011, _) => true,
        (0b00110 | 0b00111 | 0b01000 | 0b01010 | 0b10000 | 0b10001, _) => size == 3,
        (0b10110, _) => matches!(size, 1 | 2),
        (0b11011, false) | (0b11100, false) => size < 2,
        (0b11100 | 0b11101, true) | (0b11111, false) => true,
        (0b11010, true) => size > 1,
        _ => false,
    }
}

fn two(word: Word, inverse: bool, size: u32) -> bool {
    match (word.bits(16, 12), inverse) {
        (0b00011 | 0b00111, _) => true,
        (0b01000 | 0b01001 | 0b01011, _) | (0b01010, false) => size == 3,
        (0b10010, true) | (0b10100, _) => size < 3,
        (0b10110, true) => size == 1,
        (0b01100 | 0b01101, _) | (0b01110 | 0b11111, false) => size > 1,
        (0b11010 | 0b11011 | 0b11101, _) => true,
        (0b11100, _) => size < 2,
        _ => false,
    }
}

fn pairwise(word: Word, inverse: bool, size: u32) -> bool {
    match (word.bits(16, 12), inverse) {
        (0b11011, false) => size == 3,
        (0b01100 | 0b01111, true) => true,
        (0b01101, true) => size < 2,
        _ => false,
    }
}

fn shift(word: Word, inverse: bool) -> bool {
    let lane = word.bits(22, 19);
    match (word.bits(15, 11), inverse) {
        (0b00000 | 0b00010 | 0b00100 | 0b00110 | 0b01010, _) | (0b01000, true) => lane >= 8,
        (0b01110, _) | (0b01100, true) => lane != 0,
        (0b10010 | 0b10011, _) | (0b10000 | 0b10001, true) => lane != 0 && lane < 8,
        (0b11100 | 0b11111, _) => lane >= 4,
        _ => false,
    }
}

fn element(word: Word, inverse: bool, size: u32) -> bool {
    match (word.bits(15, 12), inverse) {
        (3 | 7 | 11..=13, false) => matches!(size, 1 | 2),
        (1 | 5, false) | (9, _) => vector::float_element(word, size),
        _ => false,
    }
}
