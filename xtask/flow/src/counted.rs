// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counted loops: blocks that branch to themselves and move a register by a constant step.

use crate::assembly::{Class, Instruction, LINK, immediate, number};
use crate::block::{Block, End};
use crate::decided::is_decided;

/// From how many iterations on a count is cheaper than a bit for each of them.
const WORTH: i64 = 8;

/// A step of 64 bits that is a multiple of this brings its register around too soon, unless the
/// loop's branch depends on the register alone.
const LARGE: i64 = 64;

/// How the iterations of a loop are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The induction register.
    pub register: u8,
    /// Whether the step moves all its 64 bits.
    pub is_wide: bool,
    /// Whether the step is positive.
    pub is_up: bool,
}

/// Finds whether block `index` is a loop that is worth counting, and how.
pub fn counted(blocks: &[Block], successors: &[Vec<usize>], index: usize) -> Option<Counted> {
    let block = &blocks[index];
    let End::Branch(_, to) = block.end else {
        return None;
    };
    let is_alone = to == index && index + 1 < blocks.len();
    let is_plain = block.instructions().all(|it| {
        !it.mentions().has(LINK)
            && matches!(
                it.class(),
                Some(Class::One | Class::Change | Class::Pair | Class::None)
            )
    });
    if !is_alone || !is_plain {
        return None;
    }
    let mut found: Vec<_> = (0..LINK).filter_map(|it| induction(block, it)).collect();
    // A count of 64 bits needs one instruction less.
    found.sort_by_key(|(it, _)| !it.is_wide);
    let few = found
        .iter()
        .filter_map(|(it, step)| iterations(blocks, successors, index, *it, *step))
        .any(|it| it < WORTH);
    let is_clear =
        |(it, step): &&(Counted, i64)| it.is_wide && step % LARGE != 0 || is_decided(block, *it);
    let clear = found.iter().find(is_clear);
    clear.map(|(it, _)| *it).filter(|_| !few)
}

/// Whether the block moves a register by a constant step, and in no other way.
fn induction(block: &Block, register: u8) -> Option<(Counted, i64)> {
    let mut writers = block.instructions().filter(|it| it.writes().has(register));
    let writer = writers.next().filter(|_| writers.next().is_none())?;
    let (step, is_wide) = writer.step(register).filter(|it| it.0 != 0)?;
    let found = Counted {
        register,
        is_wide,
        is_up: step > 0,
    };
    Some((found, step))
}

/// How often the loop runs, where it begins with a constant and ends at one.
fn iterations(
    blocks: &[Block],
    successors: &[Vec<usize>],
    index: usize,
    counted: Counted,
    step: i64,
) -> Option<i64> {
    let register = counted.register;
    let mut before = (0..blocks.len()).filter(|&it| it != index && successors[it].contains(&index));
    let before = before.next().filter(|_| before.next().is_none())?;
    if blocks[before].calls() {
        return None;
    }
    let mut backwards = blocks[before].instructions().rev();
    let first = constant(backwards.find(|it| it.writes().has(register))?)?;
    let last = last(&blocks[index], register)?;
    let way = last.wrapping_sub(first);
    (way % step == 0 && way / step > 0).then_some(way / step)
}

/// What a `mov` puts into its register.
fn constant(it: &Instruction) -> Option<i64> {
    match it.operands.as_slice() {
        [_, value] if it.mnemonic == "mov" && matches!(value.as_str(), "wzr" | "xzr") => Some(0),
        [_, value] if it.mnemonic == "mov" => immediate(value),
        _ => None,
    }
}

/// The value of the induction register with which the loop ends.
fn last(block: &Block, register: u8) -> Option<i64> {
    let End::Branch(branch, _) = &block.end else {
        return None;
    };
    let is_register = |text: &String| number(text).is_some_and(|it| it.0 == register);
    if branch.mnemonic == "cbnz" {
        return branch
            .operands
            .first()
            .filter(|it| is_register(it))
            .map(|_| 0);
    }
    if branch.mnemonic != "b.ne" {
        return None;
    }
    let mut behind = block.instructions().rev();
    let test = behind.find(|it| it.sets_flags())?;
    if !test.operands.first().is_some_and(is_register) {
        return None;
    }
    match (test.mnemonic.as_str(), test.operands.as_slice()) {
        ("subs" | "adds", [_, _, _]) => Some(0),
        // The step has to come before the comparison.
        ("cmp", [_, value]) if behind.any(|it| it.writes().has(register)) => immediate(value),
        _ => None,
    }
}
