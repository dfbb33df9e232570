// SPDX-License-Identifier: MIT OR Apache-2.0
//! The record of a register: 17 words.

use super::encode::{add, eor, eor_ror, ror_half};
use crate::instruction::LINK;
use crate::registers::Registers;

/// Registers of the chain's state.
pub const STATE: Registers = Registers::range(22, 25);

/// Number of the register for bits that are tested, and for the start of a counted loop.
pub const SCRATCH: u32 = 26;

/// Number of the log's cursor.
pub const CURSOR: u32 = 27;

/// Number of the register with path bits.
pub const PATH: u32 = 28;

/// Words of a record.
pub const LENGTH: usize = 17;

/// What all records have in common: the steps behind store and injection.
const STEPS: [u32; LENGTH - 2] = [
    eor_ror(23, 22, 23, 51),
    ror_half(22),
    eor_ror(25, 24, 25, 48),
    add(22, 22, 25),
    eor_ror(25, 22, 25, 43),
    add(24, 24, 23),
    eor_ror(23, 24, 23, 47),
    ror_half(24),
    add(22, 22, 23),
    eor_ror(23, 22, 23, 51),
    ror_half(22),
    add(24, 24, 25),
    eor_ror(25, 24, 25, 48),
    add(22, 22, 25),
    add(24, 24, 23),
];

/// Returns the register whose record some words begin with.
pub fn of(words: &[u32]) -> Option<u32> {
    let (&[store, inject], rest) = words.split_first_chunk::<2>()?;
    let register = store & 0x1f;
    let recordable = matches!(register, 0..=21 | SCRATCH | PATH..=LINK);
    // str xR, [x27], #8
    let found =
        store & !0x1f == 0xf800_8760 && inject == eor(22, 22, register) && rest.starts_with(&STEPS);
    (recordable && found).then_some(register)
}

/// Says whether a word is `str xR, [x27], #8`.
pub fn stores(word: u32) -> bool {
    word & !0x1f == 0xf800_8760
}
