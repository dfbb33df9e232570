// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs whose text has been proved to have the form of an attested program.

use crate::graph::{Exit, Graph, Mark, Node, build};
use crate::names::{Function, Names};
use crate::refusal::{Reason, Refusal};
use crate::rules;
use crate::scan::Scan;
use crate::template::LENGTH;
use crate::text::Text;

/// Words of a flush: the record, and the two words behind it.
const FLUSH: usize = LENGTH + 2;

/// What is checked.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// The executable text: addresses and words.
    pub text: Vec<(u64, Vec<u32>)>,
    /// Address of the first instruction.
    pub entry: u64,
    /// Addresses in the text that pointers may hold.
    pub targets: Vec<u64>,
    /// Names of functions, for people.
    pub names: Names,
}

/// How much of what a program has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Words of text.
    pub words: usize,
    /// Blocks.
    pub blocks: usize,
    /// Starts of regions with bits.
    pub regions: usize,
    /// The most bits that a region has.
    pub largest: u32,
    /// Edges with a number.
    pub edges: usize,
    /// Counted loops.
    pub loops: usize,
    /// Records of x30.
    pub links: usize,
    /// Indirect branches and calls.
    pub indirect: usize,
    /// Addresses that pointers may hold.
    pub targets: usize,
}

/// A program that has passed all rules.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) text: Text,
    pub(crate) graph: Graph,
    names: Names,
}

impl Program {
    /// Proves the form of a text.
    ///
    /// # Errors
    ///
    /// All places that a rule refuses, by address.
    pub fn check(input: Input) -> Result<Self, Vec<Refusal>> {
        Self::prove(input, |_| true)
    }

    /// Proves the form of a text without one rule: a control for that rule.
    #[cfg(test)]
    pub fn without(rule: Reason, input: Input) -> Result<Self, Vec<Refusal>> {
        Self::prove(input, |it| it != rule)
    }

    /// Proves the form of a text, with those of the rules' refusals that count.
    fn prove(input: Input, counts: impl Fn(Reason) -> bool) -> Result<Self, Vec<Refusal>> {
        let Input { names, .. } = input;
        let text = Text::new(input.text).map_err(|it| vec![it])?;
        let mut refusals = Vec::new();
        let scan = Scan::of(&text, &mut refusals);
        let graph = build(&text, &scan, input.entry, &input.targets, &mut refusals);
        if let Some(graph) = &graph {
            rules::link(&text, graph, &mut refusals);
            rules::rounds(&text, graph, &mut refusals);
            let before = refusals.len();
            rules::cycles(&text, graph, &mut refusals);
            if refusals.len() == before {
                rules::sums(&text, graph, &mut refusals);
            }
        }
        refusals.retain(|it| counts(it.reason));
        match graph {
            Some(graph) if refusals.is_empty() => Ok(Self { text, graph, names }),
            _ => {
                refusals.sort_by_key(|it| it.address);
                for it in &mut refusals {
                    it.place = names.located(it.address);
                }
                Err(refusals)
            }
        }
    }

    /// Counts what the program has.
    pub fn numbers(&self) -> Numbers {
        let mut numbers = Numbers {
            words: self.text.words().len(),
            blocks: self.graph.nodes.len(),
            targets: self.graph.pointed.iter().filter(|&&it| it).count(),
            ..Numbers::default()
        };
        for node in &self.graph.nodes {
            numbers.regions += usize::from(node.bits > 0);
            numbers.largest = numbers.largest.max(node.bits);
            for mark in &node.marks {
                match mark {
                    Mark::Edge { .. } => numbers.edges += 1,
                    Mark::Count(_) => numbers.loops += 1,
                    Mark::Link { .. } => numbers.links += 1,
                }
            }
            if let Exit::IndirectCall { .. } | Exit::IndirectBranch { .. } = node.exit {
                numbers.indirect += 1;
            }
        }
        numbers
    }

    /// Returns the PC with which the program ends by itself, behind its `svc #12`. `None`: the text
    /// does not have that instruction once.
    pub fn finish(&self) -> Option<u64> {
        let ends = |it: &&Node| it.exit == Exit::Finish;
        let mut nodes = self.graph.nodes.iter().filter(ends);
        let end = nodes.next()?.end;
        nodes
            .next()
            .is_none()
            .then(|| self.text.address(end - 1) + 4)
    }

    /// Says whether an address is in a flush, which is no block of the path: the start of a region
    /// stands for its flush.
    pub fn is_flush(&self, address: u64) -> bool {
        let Some(at) = self.text.index(address) else {
            return false;
        };
        let flushes = self.graph.nodes.iter().filter(|it| it.bits > 0);
        let mut first = flushes.map(|it| it.flush);
        first.any(|it| (it..it + FLUSH).contains(&at))
    }

    /// Says whether an address is in a counted loop, or before the record of its count.
    #[cfg(test)]
    pub fn is_in_loop(&self, address: u64) -> bool {
        let Some(at) = self.text.index(address) else {
            return false;
        };
        let mut marks = self.graph.nodes.iter().flat_map(|it| &it.marks);
        marks.any(|it| matches!(it, Mark::Count(it) if (it.block..=it.record).contains(&at)))
    }

    /// Returns the function around an address, for people.
    pub fn function(&self, address: u64) -> Function {
        let unknown = || Function {
            name: format!("{address:#x}"),
            start: address,
            end: address + 4,
        };
        self.names.around(address).unwrap_or_else(unknown)
    }

    /// Returns function and offset of an address, for people.
    pub fn place(&self, address: u64) -> Option<String> {
        self.names.of(address)
    }

    /// Returns the names of functions and the lines, for people.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Returns the word of the text at an address.
    pub fn word(&self, address: u64) -> Option<u32> {
        self.text.index(address).map(|it| self.text.words()[it])
    }
}
