// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counted loops.

use donjon_flow_chain::COUNT_START;

use super::encode::{eor_top, mov_half, orr_top, sub};
use super::record::{self, CURSOR, PATH, SCRATCH, STATE};
use crate::instruction::{Flow, Instruction};
use crate::refusal::Reason;
use crate::registers::Registers;
use crate::text::Text;

/// A loop of one block that moves a register by a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Number of the block's first word.
    pub block: usize,
    /// Number of the word behind the block.
    pub behind: usize,
    /// Number of the record's first word.
    pub record: usize,
    /// Number of the register.
    pub register: u32,
    /// How far a round moves the register, without sign.
    pub step: u64,
    /// Whether all 64 bits of the register count.
    pub wide: bool,
}

/// What no instruction of a block may touch.
const RESERVED: Registers = STATE
    .and(Registers::range(SCRATCH, CURSOR))
    .and(Registers::of(PATH));

impl Count {
    /// Finds the counted loop that begins with a word.
    ///
    /// # Errors
    ///
    /// What begins as a counted loop and does not go on as one.
    pub fn find(text: &Text, start: usize) -> Result<Option<Self>, Reason> {
        let words = text.words();
        let first = words[start];
        let (wide_one, half_one) = (first >> 5 & 0x1f, first >> 16 & 0x1f);
        let (wide, register) = if first == eor_top(SCRATCH, wide_one) {
            (true, wide_one)
        } else if first == mov_half(SCRATCH, half_one) {
            (false, half_one)
        } else {
            return Ok(None);
        };
        if register == 31 || RESERVED.has(register) {
            return Err(Reason::Count);
        }
        let block = start + 1;
        let (behind, by) = body(text, block, register, wide)?;
        let counted = if by > 0 {
            sub(wide, SCRATCH, register, SCRATCH)
        } else {
            sub(wide, SCRATCH, SCRATCH, register)
        };
        let tagged = wide || words.get(behind + 1) == Some(&orr_top(SCRATCH));
        let record = behind + if wide { 1 } else { 2 };
        let recorded = words.get(record..).and_then(record::of) == Some(SCRATCH);
        if words.get(behind) != Some(&counted) || !tagged || !recorded {
            return Err(Reason::Count);
        }
        Ok(Some(Self {
            block,
            behind,
            record,
            register,
            step: by.unsigned_abs(),
            wide,
        }))
    }

    /// Returns how many rounds a count stands for. `None`: no loop of this form counts so.
    ///
    /// R8 has proved that there is one number at most. For 64 bits it is one that does not lead
    /// around, for 32 bits one from 1 to where the register would be as it was.
    pub fn rounds(&self, word: u64) -> Option<u64> {
        let moved = word.checked_sub(COUNT_START)?;
        if self.wide {
            let fits = moved != 0 && moved.is_multiple_of(self.step);
            return fits.then(|| moved / self.step);
        }
        // Steps of 32 bits are below 2^24.
        let zeros = self.step.trailing_zeros();
        let around = (1 << 32) >> zeros;
        let fits = moved < 1 << 32 && moved.is_multiple_of(1 << zeros);
        let rounds = (moved >> zeros).wrapping_mul(inverse(self.step >> zeros));
        fits.then(|| match rounds % around {
            0 => around,
            it => it,
        })
    }
}

/// Returns what gives 1 if an odd number is multiplied by it, modulo 2^64.
fn inverse(odd: u64) -> u64 {
    // Each round doubles the bits that are right; an odd number is its own inverse modulo 8.
    (0..5).fold(odd, |it, _| {
        it.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(it)))
    })
}

/// Finds the end of a block that branches to itself, and by what it moves a register.
fn body(text: &Text, block: usize, register: u32, wide: bool) -> Result<(usize, i64), Reason> {
    let mut by = None;
    for (at, &word) in text.words().iter().enumerate().skip(block) {
        let known = Instruction::decode(word).ok_or(Reason::Instruction(word))?;
        if let Some(reserved) = RESERVED.numbers().find(|&it| known.registers().has(it)) {
            return Err(Reason::Reserved(reserved));
        }
        if known.writes.has(register) {
            let step = known
                .step
                .filter(|it| it.register == register && it.wide == wide);
            let step = step.ok_or(Reason::Count)?;
            if step.by == 0 || by.replace(step.by).is_some() {
                return Err(Reason::Count);
            }
        }
        match known.flow {
            Flow::Next => {}
            Flow::Conditional(distance) if text.at(at, distance) == Some(block) => {
                return by.map(|by| (at + 1, by)).ok_or(Reason::Count);
            }
            _ => return Err(Reason::Count),
        }
    }
    Err(Reason::Count)
}
