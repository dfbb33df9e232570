// SPDX-License-Identifier: MIT OR Apache-2.0
//! Starts of regions, their flushes, and the numbers of edges.

use donjon_flow_chain::MAX_BITS;

use super::encode::{lsl, lsr, one};
use super::record::{LENGTH, PATH, SCRATCH};
use crate::instruction::{Flow, Instruction};
use crate::refusal::Reason;
use crate::text::Text;

/// Number of the highest bit of x28 that may be set.
const TOP: u32 = 62;

/// Finds the start of a region: its bits, and the number of its flush's first word.
///
/// # Errors
///
/// A test of x28 that is not followed by the shift.
pub fn start(text: &Text, start: usize) -> Result<Option<(u32, usize)>, Reason> {
    let words = &text.words()[start..];
    let tests_top = words[0] & 0xfff8_001f == 0xb700_0000 | (TOP - 32) << 19 | PATH;
    let bits = if tests_top {
        1
    } else {
        let fits = |it: &u32| words[0] == lsr(SCRATCH, PATH, 63 - it);
        let Some(bits) = (2..=MAX_BITS).find(fits) else {
            return Ok(None);
        };
        bits
    };
    let branch = usize::from(bits > 1);
    let word = words.get(branch).copied().unwrap_or(0);
    // cbnz x26
    let tested = bits == 1 || word & 0xff00_001f == 0xb500_0000 | SCRATCH;
    let shifted = words.get(branch + 1) == Some(&lsl(PATH, PATH, bits));
    let flow = Instruction::decode(word).map(|it| it.flow);
    match flow {
        Some(Flow::Conditional(distance)) if tested && shifted => {
            let flush = text.at(start + branch, distance).ok_or(Reason::Outside)?;
            Ok(Some((bits, flush)))
        }
        _ => Err(Reason::Reserved(PATH)),
    }
}

/// Returns the number of the word to which a flush goes back.
pub fn flush(text: &Text, start: usize) -> Result<usize, Reason> {
    let words = &text.words()[start + LENGTH..];
    let flow = words.get(1).and_then(|&it| Instruction::decode(it));
    match flow.map(|it| it.flow) {
        Some(Flow::Branch(distance)) if words[0] == one(PATH) => {
            text.at(start + LENGTH + 1, distance).ok_or(Reason::Outside)
        }
        _ => Err(Reason::LoneRecord(PATH)),
    }
}

/// Returns the number of an edge that a word adds: from 1 to 2^[`MAX_BITS`] - 1.
pub fn edge(word: u32) -> Option<u32> {
    let number = word >> 10 & 0xfff;
    let adds = word & !(0xfff << 10) == 0x9100_0000 | PATH << 5 | PATH;
    (adds && number != 0).then_some(number)
}
