// SPDX-License-Identifier: MIT OR Apache-2.0
//! R5: the paths of a region have different sums of edge numbers, below what its bits hold.

use donjon_flow_chain::MAX_BITS;

use crate::graph::{Graph, Number};
use crate::refusal::{Reason, Refusal};
use crate::text::Text;

/// Sums that a region with [`MAX_BITS`] bits has.
const SUMS: usize = 1 << MAX_BITS;
const WORDS: usize = SUMS / 64;

/// Blocks that all paths of a region may have together: a table of them fits into memory.
const BLOCKS: u64 = 1 << 22;

/// A set of sums.
#[derive(Clone)]
struct Sums(Box<[u64; WORDS]>);

/// What the paths that begin with a block have.
#[derive(Clone)]
struct Paths {
    /// Sums of the paths.
    sums: Sums,
    /// How many blocks the paths have together.
    blocks: u64,
}

impl Paths {
    /// Returns the path without a block.
    fn end() -> Self {
        Self {
            sums: Sums::zero(),
            blocks: 0,
        }
    }
}

impl Sums {
    /// Returns the set of the sum 0.
    fn zero() -> Self {
        let mut words = Box::new([0; WORDS]);
        words[0] = 1;
        Self(words)
    }

    /// Adds the sums of another set. `false`: one of them was there.
    fn join(&mut self, other: &Self) -> bool {
        let mut apart = true;
        for (one, &other) in self.0.iter_mut().zip(other.0.iter()) {
            apart &= *one & other == 0;
            *one |= other;
        }
        apart
    }

    /// Adds a number to each sum. `None`: a sum becomes larger than all bits hold.
    fn moved(&self, by: u32) -> Option<Self> {
        if by == 0 {
            return Some(self.clone());
        }
        let (by, mut moved) = (by as usize, Box::new([0; WORDS]));
        for sum in self.all() {
            let sum = Some(sum + by).filter(|&it| it < SUMS)?;
            moved[sum / 64] |= 1 << (sum % 64);
        }
        Some(Self(moved))
    }

    fn all(&self) -> impl Iterator<Item = usize> {
        (0..SUMS).filter(|it| self.0[it / 64] >> (it % 64) & 1 != 0)
    }

    fn count(&self) -> u64 {
        self.0.iter().map(|it| u64::from(it.count_ones())).sum()
    }

    fn largest(&self) -> usize {
        self.all().last().unwrap_or(0)
    }
}

/// Finds regions whose paths do not have different sums below the power of two of their bits.
///
/// There must be no cycle within a region.
pub fn sums(text: &Text, graph: &Graph, refusals: &mut Vec<Refusal>) {
    let mut known = vec![None; graph.nodes.len()];
    for number in 0..graph.nodes.len() as Number {
        let node = graph.node(number);
        if !node.starts {
            continue;
        }
        let reason = match from(graph, number, &mut known) {
            Ok(paths) if paths.sums.largest() >> node.bits != 0 => Reason::LargeSum,
            Ok(paths) if paths.blocks > BLOCKS => Reason::LargeRegion,
            Ok(_) => continue,
            Err(reason) => reason,
        };
        refusals.push(Refusal::new(text.address(node.start), reason));
    }
}

/// Returns what the paths that begin with a block have.
fn from(graph: &Graph, root: Number, known: &mut [Option<Paths>]) -> Result<Paths, Reason> {
    let inner = |it: &Number| !graph.node(*it).starts;
    let mut work = vec![root];
    while let Some(&number) = work.last() {
        let missing = graph.successors(number).filter(inner);
        let missing = missing.filter(|&it| known[it as usize].is_none());
        let before = work.len();
        work.extend(missing);
        if work.len() > before {
            continue;
        }
        work.pop();
        if known[number as usize].is_some() {
            continue;
        }
        known[number as usize] = Some(through(graph, number, known)?);
    }
    Ok(known[root as usize].clone().unwrap_or_else(Paths::end))
}

/// Returns what the paths through a block have. What begins with its successors is known.
fn through(graph: &Graph, number: Number, known: &[Option<Paths>]) -> Result<Paths, Reason> {
    let mut all: Option<Paths> = None;
    for next in graph.successors(number) {
        let ends = graph.node(next).starts;
        let paths = known[next as usize].clone().filter(|_| !ends);
        let paths = paths.unwrap_or_else(Paths::end);
        let Some(all) = &mut all else {
            all = Some(paths);
            continue;
        };
        if !all.sums.join(&paths.sums) {
            return Err(Reason::EqualSums);
        }
        all.blocks = all.blocks.saturating_add(paths.blocks);
    }
    let all = all.unwrap_or_else(Paths::end);
    let sums = all
        .sums
        .moved(graph.node(number).sum)
        .ok_or(Reason::LargeSum)?;
    let blocks = all.blocks.saturating_add(sums.count());
    Ok(Paths { sums, blocks })
}
