// SPDX-License-Identifier: MIT OR Apache-2.0
//! R8: the count of a counted loop stands for one number of rounds.

use crate::graph::{Graph, Mark};
use crate::instruction::{Flow, Instruction, Source};
use crate::refusal::{Reason, Refusal};
use crate::registers::Registers;
use crate::template::Count;
use crate::text::Text;

/// A register of 64 bits comes around within 2^58 rounds, if its step is a multiple of this. With
/// another step that takes four years, at four thousand million rounds in a second.
const LARGE: u64 = 64;

/// Finds counted loops in which two numbers of rounds leave one count.
///
/// A register of *n* bits that each round moves by an odd multiple of 2^z is as it was after
/// 2^(n - z) rounds, and not before. If the branch depends on that register alone, the loop goes on
/// each time that it has a value with which it went on once: a loop that was left had at most as
/// many rounds, and no other number up to there leaves its count.
pub fn rounds(text: &Text, graph: &Graph, refusals: &mut Vec<Refusal>) {
    let marks = graph.nodes.iter().flat_map(|it| &it.marks);
    for mark in marks {
        let Mark::Count(count) = mark else { continue };
        let slow = count.wide && !count.step.is_multiple_of(LARGE);
        if !slow && !is_decided(text, count) {
            let before = text.address(count.block - 1);
            refusals.push(Refusal::new(before, Reason::Rounds));
        }
    }
}

/// Says whether the branch of a loop depends on what the counted register is as a round begins,
/// and on what no round changes, and on nothing else.
fn is_decided(text: &Text, count: &Count) -> bool {
    let body: Option<Vec<_>> = text.words()[count.block..count.behind]
        .iter()
        .map(|&it| Instruction::decode(it))
        .collect();
    let Some(body) = body else {
        return false;
    };
    let changed = body
        .iter()
        .fold(Registers::NONE, |it, &one| it.and(one.writes));
    let mut known = [false; 31];
    for (number, known) in known.iter_mut().enumerate() {
        *known = !changed.has(number as u32);
    }
    let counted = count.register as usize;
    // The upper half of a register whose lower one is counted may be anything at first.
    let mut half = !count.wide;
    known[counted] = true;
    let mut flags = false;
    for it in body {
        let is_known = |number: u32| {
            known[number as usize]
                && (it.source == Source::Half || !half || number as usize != counted)
        };
        let pure = it.source != Source::Other
            && it.reads.numbers().all(is_known)
            && (flags || !it.uses_flags);
        if let Flow::Conditional(_) = it.flow {
            return pure;
        }
        for number in it.writes.numbers() {
            known[number as usize] = pure;
        }
        if it.writes.has(count.register) {
            // The step: a constant, whatever else the instruction does.
            known[counted] = true;
            half = false;
        }
        if it.sets_flags {
            flags = pure;
        }
    }
    false
}
