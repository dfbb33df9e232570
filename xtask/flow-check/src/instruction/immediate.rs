// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arithmetic with immediates.

use super::{Instruction, Source, Word};

/// Decodes an instruction of the group of arithmetic with immediates.
pub fn decode(word: Word) -> Option<Instruction> {
    let wide = word.bit(31);
    let plain = Instruction::PLAIN.computing(wide);
    let one = plain.writing(word.d()).reading(word.n());
    match word.bits(28, 23) {
        0b100000 | 0b100001 => Some(plain.writing(word.d())),
        0b100010 => Some(add(word, one)),
        0b100100 => (wide || !word.bit(22))
            .then_some(())
            .and_then(|()| mask_exists(word).then_some(one))
            .map(|it| it.flags(false, word.bits(30, 29) == 3)),
        0b100101 => wide_move(word),
        0b100110 => {
            let fits = word.bit(22) == wide && (wide || !word.bit(21) && !word.bit(15));
            let keeps = if word.bits(30, 29) == 1 {
                one.reading(word.d())
            } else {
                one
            };
            (fits && word.bits(30, 29) != 3).then_some(keeps)
        }
        0b100111 => {
            let fits = word.bit(22) == wide && (wide || !word.bit(15));
            (fits && word.bits(30, 29) == 0 && !word.bit(21)).then_some(one.reading(word.m()))
        }
        _ => None,
    }
}

/// Decodes an addition or subtraction, which may move a register by a constant.
fn add(word: Word, one: Instruction) -> Instruction {
    let size = i64::from(word.bits(21, 10)) << if word.bit(22) { 12 } else { 0 };
    let by = if word.bit(30) { -size } else { size };
    let mut one = one.flags(false, word.bit(29));
    if word.n() == 31 {
        one.source = Source::Other;
    }
    if word.n() == word.d() {
        one.stepping(word.d(), by, word.bit(31))
    } else {
        one
    }
}

/// Says whether the fields of a logical immediate stand for a mask.
fn mask_exists(word: Word) -> bool {
    let selector = word.bits(22, 22) << 6 | !word.bits(15, 10) & 0x3f;
    // Elements have 2 to 64 bits, and never all of them set.
    selector > 1 && {
        let ones = (1 << selector.ilog2()) - 1;
        word.bits(15, 10) & ones != ones
    }
}

fn wide_move(word: Word) -> Option<Instruction> {
    let fits = word.bit(31) || !word.bit(22);
    let written = Instruction::PLAIN.writing(word.d()).computing(word.bit(31));
    match word.bits(30, 29) {
        0 | 2 if fits => Some(written),
        3 if fits => Some(written.reading(word.d())),
        _ => None,
    }
}
