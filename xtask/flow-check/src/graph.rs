// SPDX-License-Identifier: MIT OR Apache-2.0
//! The graph of a text: its blocks, and how the program goes on behind each.

mod build;

pub use build::build;

use crate::template::Count;

/// Number of a block.
pub type Number = u32;

/// What happens within a block, beside ordinary instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// An edge's number is added to the path bits.
    Edge {
        /// Number of the word.
        at: usize,
        /// What is added.
        number: u32,
    },
    /// A loop runs, and its count is recorded.
    Count(Count),
    /// The address in x30 is recorded.
    Link {
        /// Number of the record's first word.
        record: usize,
    },
}

/// How the program goes on behind a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// At a block.
    Next(Number),
    /// At one of two blocks.
    Branch(Number, Number),
    /// At a function, and then at a block behind the call.
    Call(Number, Number),
    /// At a recorded address, and then at a block behind the call.
    IndirectCall {
        /// Number of the record's first word.
        record: usize,
        /// The block behind the call.
        back: Number,
    },
    /// At a recorded address.
    IndirectBranch {
        /// Number of the record's first word.
        record: usize,
    },
    /// At the address in x30.
    Return,
    /// Nowhere: the attested program has ended.
    Finish,
    /// Nowhere: a fault, an end without result, or a branch to itself.
    Stop,
}

/// What a block does to x30.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// The block leaves x30 alone.
    Kept,
    /// At the end of the block x30 is what a record says.
    Recorded,
    /// At the end of the block x30 is what no record says.
    Changed,
}

/// A block: words that run one behind the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Number of the first word.
    pub start: usize,
    /// Number of the word behind the last one.
    pub end: usize,
    /// Bits for which a region that starts here makes room, or 0.
    pub bits: u32,
    /// Number of the flush's first word, if a region with bits starts here.
    pub flush: usize,
    /// What happens in it, in order.
    pub marks: Vec<Mark>,
    /// Sum of the edge numbers in it.
    pub sum: u32,
    /// What it does to x30, before a call at its end.
    pub link: Link,
    /// How the program goes on.
    pub exit: Exit,
    /// Whether a region starts here, with bits or without.
    pub starts: bool,
}

/// The graph of a text.
#[derive(Clone, Debug)]
pub struct Graph {
    /// All blocks, in the order of their words.
    pub nodes: Vec<Node>,
    /// The block where the program begins.
    pub entry: Number,
    /// For each block whether a pointer to it may be called.
    pub pointed: Vec<bool>,
}

impl Graph {
    /// Returns a block. Numbers come from the graph itself.
    pub fn node(&self, number: Number) -> &Node {
        &self.nodes[number as usize]
    }

    /// Returns the number of the block that begins with a word.
    pub fn starting(&self, word: usize) -> Option<Number> {
        let found = self.nodes.binary_search_by_key(&word, |it| it.start).ok()?;
        Some(found as Number)
    }

    /// Lists the blocks at which the program goes on within a function, and whether they are
    /// behind a call.
    pub fn successors(&self, number: Number) -> impl Iterator<Item = Number> {
        let (first, second) = match self.node(number).exit {
            Exit::Next(next) => (Some(next), None),
            Exit::Branch(one, other) => (Some(one), Some(other)),
            _ => (None, None),
        };
        first.into_iter().chain(second)
    }
}
