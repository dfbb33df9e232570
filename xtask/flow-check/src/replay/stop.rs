// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a program stopped: within which block, and what of it was done.

use super::{End, Ending};
use crate::graph::{Exit, Graph, Mark, Node, Number};
use crate::text::Text;

/// The place where a program stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Number of the word that was not carried out, or of the last `svc`.
    pub at: usize,
    how: Ending,
}

/// What of a block was done before the program stopped in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Edge numbers that were added.
    pub sum: u64,
    /// Words that were written.
    pub words: u64,
}

impl Stop {
    /// Finds the place of an end. `None`: it is not in the text.
    pub fn of(text: &Text, end: &End) -> Option<Self> {
        let pc = match end.how {
            Ending::Finished => end.pc.checked_sub(4)?,
            Ending::Stopped => end.pc,
        };
        let at = text.index(pc)?;
        Some(Self { at, how: end.how })
    }

    /// Says what was done of a block, if the program can have stopped in it.
    pub fn within(&self, node: &Node) -> Option<Part> {
        if !(node.start..node.end).contains(&self.at) {
            return None;
        }
        if self.how == Ending::Finished {
            let is_last = node.exit == Exit::Finish && self.at + 1 == node.end;
            return is_last.then(|| self.before(node));
        }
        // Start of a region: the walk itself looks at the words of its template.
        let shifted = node.bits == 0 || self.at >= node.start + template(node);
        shifted.then(|| self.before(node))
    }

    fn before(&self, node: &Node) -> Part {
        let mut part = Part::default();
        for mark in &node.marks {
            match *mark {
                Mark::Edge { at, number } if at < self.at => part.sum += u64::from(number),
                Mark::Count(count) if count.record < self.at => part.words += 1,
                Mark::Link { record } if record < self.at => part.words += 1,
                _ => {}
            }
        }
        match node.exit {
            Exit::IndirectCall { record, .. } | Exit::IndirectBranch { record } => {
                part.words += u64::from(record < self.at);
            }
            _ => {}
        }
        part
    }

    /// Returns how many blocks of a path were begun, if with them the program wrote `words` words
    /// and its edge numbers became `sum`.
    pub fn on(&self, graph: &Graph, path: &[Number], sum: u64, words: u64) -> Option<usize> {
        let mut whole = Part::default();
        for (begun, &number) in path.iter().enumerate() {
            let node = graph.node(number);
            if let Some(part) = self.within(node)
                && whole.sum + part.sum == sum
                && whole.words + part.words == words
            {
                return Some(begun + 1);
            }
            whole.sum += u64::from(node.sum);
            let marked = node
                .marks
                .iter()
                .filter(|it| !matches!(it, Mark::Edge { .. }));
            whole.words += marked.count() as u64;
        }
        None
    }
}

/// Returns how many words the template at a region's start has.
pub fn template(node: &Node) -> usize {
    match node.bits {
        0 => 0,
        1 => 2,
        _ => 3,
    }
}
