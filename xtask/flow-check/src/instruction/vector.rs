// SPDX-License-Identifier: MIT OR Apache-2.0
//! Vector instructions. None but copies names a general register.

use super::{Instruction, Word, convert};

/// Decodes a vector instruction without immediate.
pub fn decode(word: Word) -> Option<Instruction> {
    let (size, inverse, full) = (word.bits(23, 22), word.bit(29), word.bit(30));
    let known = if !word.bit(21) {
        match (word.bit(15), word.bits(11, 10)) {
            (false, 1 | 3) if size == 0 => return convert::copy(word),
            // An extraction across two vectors.
            (false, 0 | 2) if inverse => size == 0 && (full || !word.bit(14)),
            (false, 0) => size == 0,
            (false, 2) => !matches!(word.bits(14, 12), 0 | 4) && (full || size < 3),
            _ => false,
        }
    } else if word.bit(10) {
        three_same(word.bits(15, 11), inverse, size, full)
    } else if !word.bit(11) {
        three_different(word.bits(15, 12), inverse, size)
    } else {
        match word.bits(20, 17) {
            0 => two(word.bits(16, 12), inverse, size, full),
            8 => across(word.bits(16, 12), inverse, size, full),
            _ => false,
        }
    };
    known.then_some(Instruction::PLAIN)
}

fn three_same(operation: u32, inverse: bool, size: u32, full: bool) -> bool {
    let float = full || size & 1 == 0;
    match (operation, inverse) {
        (0b00011, _) => true,
        (0b00001 | 0b00101 | 0b00110..=0b01011 | 0b10000 | 0b10001, _) | (0b10111, false) => {
            full || size < 3
        }
        (0b10011, true) => size == 0,
        (0b00000..=0b01111 | 0b10010..=0b10101, _) => size < 3,
        (0b10110, _) => matches!(size, 1 | 2),
        (0b11000 | 0b11010 | 0b11110, _) | (0b11001, false) => float,
        (0b11100 | 0b11101, true) | (0b11111, false) => float,
        (0b11011, _) | (0b11100, false) | (0b11111, true) => float && size < 2,
        _ => false,
    }
}

fn three_different(operation: u32, inverse: bool, size: u32) -> bool {
    match (operation, inverse) {
        (0..=8 | 10 | 12, _) => size < 3,
        (9 | 11 | 13, false) => matches!(size, 1 | 2),
        (14, false) => size == 0,
        _ => false,
    }
}

fn two(operation: u32, inverse: bool, size: u32, full: bool) -> bool {
    let float = full || size & 1 == 0;
    let whole = full || size < 3;
    match (operation, inverse) {
        (0b00000, true) => size < 2,
        (0b00001, false) => size == 0,
        (0b00101, false) => size == 0,
        (0b00101, true) => size < 2,
        (0b00000, false) | (0b00010 | 0b00100 | 0b00110, _) => size < 3,
        (0b00011 | 0b00111 | 0b01000 | 0b01001 | 0b01011, _) | (0b01010, false) => whole,
        (0b10010 | 0b10100, _) | (0b10011, true) => size < 3,
        (0b10110 | 0b10111, false) => size < 2,
        (0b10110, true) => size == 1,
        (0b11000, true) => float && size < 2,
        (0b11000, false) | (0b11001 | 0b11010 | 0b11011 | 0b11101, _) => float,
        (0b11100, _) => size == 2 || float && size < 2,
        (0b01100 | 0b01101 | 0b01111, _) | (0b01110, false) | (0b11111, true) => float && size > 1,
        _ => false,
    }
}

fn across(operation: u32, inverse: bool, size: u32, full: bool) -> bool {
    match (operation, inverse) {
        (0b00011 | 0b01010 | 0b11010, _) | (0b11011, false) => size < 2 || size == 2 && full,
        (0b01100 | 0b01111, true) => full && size & 1 == 0,
        _ => false,
    }
}

/// Decodes a vector instruction with a shift, an immediate or an element.
pub fn decode_immediate(word: Word) -> Option<Instruction> {
    let (size, inverse, full) = (word.bits(23, 22), word.bit(29), word.bit(30));
    let known = if !word.bit(10) {
        element(word, inverse, size, full)
    } else if word.bit(23) {
        false
    } else if word.bits(22, 19) == 0 {
        let double = inverse && word.bits(15, 12) == 15;
        !word.bit(11) && (full || !double)
    } else {
        shift(word.bits(15, 11), inverse, word.bits(22, 19), full)
    };
    known.then_some(Instruction::PLAIN)
}

fn shift(operation: u32, inverse: bool, lane: u32, full: bool) -> bool {
    match (operation, inverse) {
        (0b00000 | 0b00010 | 0b00100 | 0b00110 | 0b01010 | 0b01110, _)
        | (0b01000 | 0b01100, true) => full || lane < 8,
        (0b10000..=0b10100, _) => lane < 8,
        (0b11100 | 0b11111, _) => lane >= 4 && (full || lane < 8),
        _ => false,
    }
}

fn element(word: Word, inverse: bool, size: u32, full: bool) -> bool {
    match (word.bits(15, 12), inverse) {
        (2 | 6 | 10, _) | (3 | 7 | 8 | 11 | 12 | 13, false) | (0 | 4, true) => {
            matches!(size, 1 | 2)
        }
        (1 | 5, false) | (9, _) => float_element(word, size) && (full || size == 2),
        _ => false,
    }
}

/// Says whether a product with an element of a vector of floating point exists.
pub fn float_element(word: Word, size: u32) -> bool {
    size == 2 || size == 3 && !word.bit(21)
}
