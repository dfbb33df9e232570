// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is to be done with a function: its blocks, counted loops, regions and numbers.

use anyhow::{Context, Result, ensure};

use crate::block::{self, Block, End};
use crate::counted::{self, Counted};
use crate::link::{self, Load};
use crate::number::{Numbers, number};
use crate::unit::{Function, Unit};
use crate::{exclusive, loops};

/// What is to be done with a function.
#[derive(Debug)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// Its blocks.
    pub blocks: Vec<Block>,
    /// How each block counts its iterations, if it is a counted loop.
    pub counted: Vec<Option<Counted>>,
    /// Loads of x30 in each block.
    pub loads: Vec<Vec<Option<Load>>>,
    /// Where a path goes on within the function: not behind calls, and not back into a counted
    /// loop.
    pub paths: Vec<Vec<usize>>,
    /// Its regions.
    pub numbers: Numbers,
    /// Blocks whose region needs a bit though one path leads through it.
    pub forced: Vec<bool>,
}

impl Plan {
    /// Returns how many bits the region that begins with a block has.
    pub fn bits(&self, block: usize) -> u32 {
        if self.numbers.starts[block] {
            self.numbers.bits(block).max(self.forced[block].into())
        } else {
            0
        }
    }
}

/// Plans a function.
///
/// # Errors
///
/// If it has a construct that the rewriter does not know; the error names its line.
pub fn plan(function: &Function, unit: &Unit) -> Result<Plan> {
    let place = || format!("{}: function {}", unit.name, function.name);
    let blocks = block::split(function, unit)?;
    let successors = block::successors(&blocks);
    let loads = link::loads(&blocks, &successors).with_context(place)?;
    let counted: Vec<_> = (0..blocks.len())
        .map(|it| counted::counted(&blocks, &successors, it))
        .collect();
    let mut paths = successors.clone();
    for (index, block) in blocks.iter().enumerate() {
        if block.calls() {
            paths[index].clear();
        }
        if counted[index].is_some() {
            paths[index] = vec![index + 1];
        }
    }
    let starts = starts(&blocks, &paths);
    let depths = loops::depths(&successors);
    let first = |node: usize| favoured(&blocks, &paths, &depths, node);
    let numbers = number(&paths, starts, &first);
    for (index, is_within) in exclusive::within(&blocks, &successors)
        .into_iter()
        .enumerate()
    {
        ensure!(
            !is_within || !numbers.starts[index] && counted[index].is_none(),
            "{}: line {}: a region would begin between ldxr and stxr",
            place(),
            blocks[index].line
        );
    }
    Ok(Plan {
        name: function.name.clone(),
        forced: vec![false; blocks.len()],
        blocks,
        counted,
        loads,
        paths,
        numbers,
    })
}

/// Where regions begin: at the entry, at labels whose address is taken, behind calls, and at the
/// headers of loops.
fn starts(blocks: &[Block], paths: &[Vec<usize>]) -> Vec<bool> {
    let mut starts: Vec<_> = blocks.iter().map(|it| it.is_taken).collect();
    for index in 1..blocks.len() {
        starts[index] |= blocks[index - 1].calls();
    }
    for header in loops::headers(paths, &starts) {
        starts[header] = true;
    }
    starts
}

/// Which edge of a node costs most with a number, so that it gets 0.
fn favoured(blocks: &[Block], paths: &[Vec<usize>], depths: &[u32], node: usize) -> usize {
    let [taken, falls] = paths[node][..] else {
        return 0;
    };
    // In tenths: how often each edge is followed, from the loops that it stays in.
    let (often_taken, often_falls) = match depths[taken].cmp(&depths[falls]) {
        std::cmp::Ordering::Greater => (9, 1),
        std::cmp::Ordering::Equal => (5, 5),
        std::cmp::Ordering::Less => (1, 9),
    };
    let cost = if needs_trampoline(blocks, paths, taken) {
        2
    } else {
        1
    };
    usize::from(often_falls > often_taken * cost)
}

/// Whether an edge by a taken branch has its number in code of its own, which ends in a jump.
pub fn needs_trampoline(blocks: &[Block], paths: &[Vec<usize>], to: usize) -> bool {
    !is_only(blocks, paths, to) && (to == 0 || blocks[to - 1].goes_on())
}

/// Whether only one edge leads to a block.
pub fn is_only(blocks: &[Block], paths: &[Vec<usize>], to: usize) -> bool {
    let entries = paths.iter().flatten().filter(|&&it| it == to).count();
    let is_behind_call = to > 0 && blocks[to - 1].calls();
    entries == 1 && !blocks[to].is_taken && !is_behind_call
}

/// Tells whether a block writes a word, wherever its path comes from and goes to.
pub fn has_word(plan: &Plan, block: usize) -> bool {
    plan.counted[block].is_some()
        || plan.loads[block].contains(&Some(Load::Return))
        || matches!(
            plan.blocks[block].end,
            End::CallRegister(..) | End::JumpRegister(..)
        )
}
