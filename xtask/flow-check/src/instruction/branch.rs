// SPDX-License-Identifier: MIT OR Apache-2.0
//! Branches, exceptions, hints and barriers.

use super::{Flow, Instruction, LINK, Word};
use crate::registers::Registers;

/// What a request to the inner domain may read and write: x0 to x16.
const REQUEST: Registers = Registers::range(0, 16);

/// Decodes `udf`, which the gaps between functions consist of.
pub fn undefined(word: Word) -> Option<Instruction> {
    (word.bits(31, 16) == 0).then_some(Instruction::PLAIN.going(Flow::Stop))
}

/// Decodes an instruction of the group of branches.
pub fn decode(word: Word) -> Option<Instruction> {
    let plain = Instruction::PLAIN;
    match word.bits(31, 24) {
        0x14..=0x17 => Some(plain.going(Flow::Branch(4 * word.signed(25, 0)))),
        0x94..=0x97 => Some(
            plain
                .going(Flow::Call(4 * word.signed(25, 0)))
                .writing(LINK),
        ),
        0x34 | 0x35 | 0xb4 | 0xb5 => {
            let to = Flow::Conditional(4 * word.signed(23, 5));
            let tests = plain.computing(word.bit(31));
            Some(tests.going(to).reading(word.d()))
        }
        0x36 | 0x37 | 0xb6 | 0xb7 => {
            let to = Flow::Conditional(4 * word.signed(18, 5));
            let tests = plain.computing(word.bit(31));
            Some(tests.going(to).reading(word.d()))
        }
        // "Always" is no condition.
        0x54 if !word.bit(4) && word.bits(3, 1) != 7 => {
            let tests = plain.computing(true).flags(true, false);
            Some(tests.going(Flow::Conditional(4 * word.signed(23, 5))))
        }
        0xd4 => exception(word),
        0xd5 => hint(word),
        0xd6 => indirect(word),
        _ => None,
    }
}

fn exception(word: Word) -> Option<Instruction> {
    let number = word.bits(20, 5);
    match (word.bits(23, 21), word.bits(4, 0)) {
        (0, 1) => Some(Instruction {
            flow: Flow::Supervisor(number),
            reads: REQUEST,
            writes: REQUEST,
            sets_flags: true,
            ..Instruction::PLAIN
        }),
        (1, 0) => Some(Instruction::PLAIN.going(Flow::Stop)),
        _ => None,
    }
}

/// Decodes `nop`, `bti`, `clrex` and `dmb`.
fn hint(word: Word) -> Option<Instruction> {
    let known = match word.0 {
        0xd503_201f | 0xd503_241f | 0xd503_245f | 0xd503_249f | 0xd503_24df => true,
        // Domains and types other than these are reserved.
        _ if word.0 & !0xf00 == 0xd503_30bf => word.bits(9, 8) != 0,
        _ => word.0 & !0xf00 == 0xd503_305f,
    };
    known.then_some(Instruction::PLAIN)
}

fn indirect(word: Word) -> Option<Instruction> {
    if word.bits(20, 10) != 0b11111_000000 || word.d() != 0 || word.n() == 31 {
        return None;
    }
    let plain = Instruction::PLAIN.reading(word.n());
    match word.bits(24, 21) {
        0 => Some(plain.going(Flow::IndirectBranch(word.n()))),
        1 => Some(plain.going(Flow::IndirectCall(word.n())).writing(LINK)),
        2 if word.n() == LINK => Some(plain.going(Flow::Return)),
        _ => None,
    }
}
