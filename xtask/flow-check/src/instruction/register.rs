// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arithmetic with registers.

use super::{Instruction, Source, Word};

/// Decodes an instruction of the group of arithmetic with registers.
pub fn decode(word: Word) -> Option<Instruction> {
    let wide = word.bit(31);
    let plain = Instruction::PLAIN.computing(wide);
    let one = plain.writing(word.d()).reading(word.n());
    let two = one.reading(word.m());
    match word.bits(28, 24) {
        0b01010 => {
            let logical = two.flags(false, word.bits(30, 29) == 3);
            (wide || !word.bit(15)).then_some(logical)
        }
        0b01011 if word.bit(21) => {
            let mut extended = two.flags(false, word.bit(29));
            if word.n() == 31 {
                extended.source = Source::Other;
            }
            (word.bits(23, 22) == 0 && word.bits(12, 10) <= 4).then_some(extended)
        }
        0b01011 => {
            let shifted = two.flags(false, word.bit(29));
            (word.bits(23, 22) != 3 && (wide || !word.bit(15))).then_some(shifted)
        }
        0b11011 => three(word, two),
        0b11010 => others(word, one, two),
        _ => None,
    }
}

fn three(word: Word, two: Instruction) -> Option<Instruction> {
    let wide = word.bit(31);
    let known = match (word.bits(23, 21), word.bit(15)) {
        (0, _) => true,
        (1 | 5, _) => wide,
        (2 | 6, false) => wide && word.a() == 31,
        _ => false,
    };
    (known && word.bits(30, 29) == 0).then_some(two.reading(word.a()))
}

fn others(word: Word, one: Instruction, two: Instruction) -> Option<Instruction> {
    match word.bits(23, 21) {
        // With carry.
        0 => (word.bits(15, 10) == 0).then_some(two.flags(true, word.bit(29))),
        // Comparisons under a condition.
        2 if word.bit(29) && !word.bit(10) && !word.bit(4) => {
            let plain = Instruction::PLAIN.computing(word.bit(31));
            let first = plain.flags(true, true).reading(word.n());
            Some(if word.bit(11) {
                first
            } else {
                first.reading(word.m())
            })
        }
        // Selections.
        4 => (!word.bit(29) && !word.bit(11)).then_some(two.flags(true, false)),
        6 if word.bit(29) => None,
        6 if word.bit(30) => {
            let known = match word.bits(15, 10) {
                0..=2 | 4 | 5 => true,
                3 => word.bit(31),
                _ => false,
            };
            (known && word.m() == 0).then_some(one)
        }
        // Divisions and shifts.
        6 => matches!(word.bits(15, 10), 2 | 3 | 8..=11).then_some(two),
        _ => None,
    }
}
