// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes the graph of a text from its words.

mod blocks;
mod edges;

use super::Graph;
use crate::instruction::{Flow, Instruction};
use crate::refusal::Refusal;
use crate::scan::Scan;
use crate::template::Template;
use crate::text::Text;

use blocks::Blocks;
use edges::Edges;

/// Makes the graph of a text, or adds to `refusals` why there is none.
pub fn build(
    text: &Text,
    scan: &Scan,
    entry: u64,
    targets: &[u64],
    refusals: &mut Vec<Refusal>,
) -> Option<Graph> {
    let before = refusals.len();
    let mut edges = Edges {
        text,
        scan,
        leads: vec![false; scan.words.len()],
        starts: vec![false; scan.words.len()],
        refusals,
    };
    let entry = edges.named(entry);
    let targets: Vec<_> = targets.iter().filter_map(|&it| edges.named(it)).collect();
    edges.collect();
    if edges.refusals.len() > before {
        return None;
    }
    let (leads, starts) = (edges.leads, edges.starts);
    let blocks = Blocks::new(text, scan, &leads, &starts);
    let nodes = blocks.all();
    let mut pointed = vec![false; nodes.len()];
    for target in targets {
        pointed[blocks.numbers[target] as usize] = true;
    }
    Some(Graph {
        nodes,
        entry: blocks.numbers[entry?],
        pointed,
    })
}

/// Decodes the last word of a template.
fn last(text: &Text, template: &Template) -> Instruction {
    let word = text.words()[template.end - 1];
    Instruction::decode(word).unwrap_or(Instruction {
        flow: Flow::Stop,
        ..Instruction::PLAIN
    })
}
