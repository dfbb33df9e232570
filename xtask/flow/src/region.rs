// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where regions begin, and what they cost.

use crate::block::Block;
use crate::number::{Numbers, number};
use crate::{loops, often};

/// Instructions of a flush, for each of the bits that it writes.
const BIT: f64 = 19.0 / 60.0;

/// Most blocks of a function for which several places of regions are compared.
const MOST: usize = 600;

/// Finds where regions begin and numbers their edges. `all` has the successors of blocks, calls and
/// counted loops included, and `paths` those within regions.
pub fn regions(blocks: &[Block], all: &[Vec<usize>], paths: &[Vec<usize>]) -> Numbers {
    let depths = loops::depths(all);
    let often = often::edges(blocks, paths, &depths);
    let starts = starts(blocks, paths);
    let costs = costs(blocks, paths);
    let first = |node: usize| favoured(&often[node], &costs[node]);
    let mut best = number(paths, starts, &first);
    if blocks.len() > MOST {
        return best;
    }
    let mut least = cost(blocks, &often, &costs, &best);
    // Regions may also begin behind loops and at joins: the bits of what is before get fewer.
    for place in (1..blocks.len()).rev() {
        if best.starts[place] || entries(paths, place) == 0 {
            continue;
        }
        let mut starts = best.starts.clone();
        starts[place] = true;
        let numbers = number(paths, starts, &first);
        let new = cost(blocks, &often, &costs, &numbers);
        if new < least {
            (best, least) = (numbers, new);
        }
    }
    best
}

/// Where regions have to begin: at the entry, at labels whose address is taken, behind calls, and
/// at the headers of loops.
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

/// Instructions of each edge, if it has a number.
fn costs(blocks: &[Block], paths: &[Vec<usize>]) -> Vec<Vec<f64>> {
    let taken = |to: usize| {
        if needs_jump(blocks, paths, to) {
            2.0
        } else {
            1.0
        }
    };
    let one = |to: &Vec<usize>| match to.as_slice() {
        &[to, _] => vec![taken(to), 1.0],
        others => vec![1.0; others.len()],
    };
    paths.iter().map(one).collect()
}

/// Which edge of a node gets 0: the one that would cost most with a number.
fn favoured(often: &[f64], costs: &[f64]) -> usize {
    match (often, costs) {
        (&[taken, falls], &[jump, none]) => usize::from(falls * none > taken * jump),
        _ => 0,
    }
}

/// Instructions that all regions and edges add.
fn cost(blocks: &[Block], often: &[Vec<f64>], costs: &[Vec<f64>], numbers: &Numbers) -> f64 {
    let run = |node: usize| often[node].iter().sum::<f64>();
    let mut all = 0.0;
    for node in 0..blocks.len() {
        let edges = numbers.edges[node].iter().zip(&often[node]);
        for ((number, often), cost) in edges.zip(&costs[node]) {
            all += if *number > 0 { often * cost } else { 0.0 };
        }
        if numbers.starts[node] {
            all += match numbers.bits(node) {
                0 => 0.0,
                1 => run(node) * (2.0 + BIT),
                bits => run(node) * (3.0 + BIT * f64::from(bits)),
            };
        }
    }
    all
}

/// Tells whether an edge by a taken branch has its number in code of its own, which ends in a jump.
fn needs_jump(blocks: &[Block], paths: &[Vec<usize>], to: usize) -> bool {
    !is_only(blocks, paths, to) && (to == 0 || blocks[to - 1].goes_on())
}

/// Tells whether only one edge leads to a block.
pub fn is_only(blocks: &[Block], paths: &[Vec<usize>], to: usize) -> bool {
    let is_behind_call = to > 0 && blocks[to - 1].calls();
    entries(paths, to) == 1 && !blocks[to].is_taken && !is_behind_call
}

fn entries(paths: &[Vec<usize>], to: usize) -> usize {
    paths.iter().flatten().filter(|&&it| it == to).count()
}
