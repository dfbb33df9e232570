// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is to be done with a function: its blocks, counted loops, regions and numbers.

use anyhow::{Context, Result, ensure};

use crate::block::{self, Block, End};
use crate::counted::{self, Counted};
use crate::exclusive;
use crate::link::{self, Load};
use crate::number::Numbers;
use crate::region::regions;
use crate::unit::{Function, Unit};

/// What is to be done with a function.
#[derive(Debug)]
pub struct Plan {
    /// The function's name.
    pub name: String,
    /// The function's blocks.
    pub blocks: Vec<Block>,
    /// How each block counts its iterations, if it is a counted loop.
    pub counted: Vec<Option<Counted>>,
    /// Loads of x30 in each block.
    pub loads: Vec<Vec<Option<Load>>>,
    /// Calls that never return.
    pub endless: Vec<bool>,
    /// Where a path goes on within the function: not behind calls, and not back into a counted
    /// loop.
    pub paths: Vec<Vec<usize>>,
    /// The function's regions.
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
    let numbers = regions(&blocks, &successors, &paths);
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
        endless: link::endless(&blocks, &successors),
        forced: vec![false; blocks.len()],
        blocks,
        counted,
        loads,
        paths,
        numbers,
    })
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
