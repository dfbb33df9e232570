// SPDX-License-Identifier: MIT OR Apache-2.0
//! The paths of a region, by the sum of their edge numbers.

use crate::graph::{Exit, Graph, Mark, Number};

/// A path of a region.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    /// Blocks of the path. Without any there is no such path.
    pub nodes: &'a [Number],
    /// The start of a region at which it ends, if it ends there.
    pub next: Option<Number>,
}

/// Where a path is in the list of blocks.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    begin: u32,
    end: u32,
    next: Option<Number>,
}

/// All paths of a region.
pub struct Table {
    paths: Vec<Entry>,
    nodes: Vec<Number>,
    /// The most words that a path writes.
    pub words: u64,
}

impl Table {
    /// Lists the paths of the region that begins with a block. The checker has proved that there
    /// is one at most for each sum below the power of two of its bits.
    pub fn new(graph: &Graph, start: Number) -> Self {
        let mut table = Self {
            paths: vec![Entry::default(); 1 << graph.node(start).bits],
            nodes: Vec::new(),
            words: 0,
        };
        // What is open: how long the path was before a block, and the block.
        let mut open = vec![(0, start)];
        let mut path: Vec<Number> = Vec::new();
        while let Some((length, number)) = open.pop() {
            path.truncate(length);
            path.push(number);
            if graph.successors(number).next().is_none() {
                table.add(graph, &path, None);
            }
            for next in graph.successors(number) {
                if graph.node(next).starts {
                    table.add(graph, &path, Some(next));
                } else {
                    open.push((path.len(), next));
                }
            }
        }
        table
    }

    fn add(&mut self, graph: &Graph, path: &[Number], next: Option<Number>) {
        let nodes = || path.iter().map(|&it| graph.node(it));
        let sum: u64 = nodes().map(|it| u64::from(it.sum)).sum();
        let words: u64 = nodes().map(|it| words(&it.marks, it.exit)).sum();
        let begin = self.nodes.len() as u32;
        if let Some(place) = self.paths.get_mut(sum as usize) {
            self.nodes.extend(path);
            let end = self.nodes.len() as u32;
            *place = Entry { begin, end, next };
            self.words = self.words.max(words);
        }
    }

    fn of(&self, entry: Entry) -> Path<'_> {
        Path {
            nodes: &self.nodes[entry.begin as usize..entry.end as usize],
            next: entry.next,
        }
    }

    /// Returns the path with a sum.
    pub fn path(&self, sum: u64) -> Path<'_> {
        let entry = self.paths.get(sum as usize).copied();
        self.of(entry.unwrap_or_default())
    }

    /// Lists the blocks of each path.
    pub fn all(&self) -> impl Iterator<Item = &[Number]> {
        self.paths.iter().map(|&it| self.of(it).nodes)
    }
}

/// Counts the words that a block writes.
fn words(marks: &[Mark], exit: Exit) -> u64 {
    let marked = marks.iter().filter(|it| !matches!(it, Mark::Edge { .. }));
    let recorded = matches!(
        exit,
        Exit::IndirectCall { .. } | Exit::IndirectBranch { .. }
    );
    marked.count() as u64 + u64::from(recorded)
}
