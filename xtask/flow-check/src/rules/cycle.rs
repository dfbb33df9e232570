// SPDX-License-Identifier: MIT OR Apache-2.0
//! R11 and a part of R5: each cycle writes something, and no region has one.

use crate::graph::{Exit, Graph, Mark, Node, Number};
use crate::refusal::{Reason, Refusal};
use crate::text::Text;

/// Finds cycles without a word or a path bit, and cycles within a region.
pub fn cycles(text: &Text, graph: &Graph, refusals: &mut Vec<Refusal>) {
    let silent = |number: Number| {
        let node = graph.node(number);
        let next = match node.exit {
            _ if says(node) => [None, None],
            Exit::Next(one) => [Some(one), None],
            Exit::Branch(one, other) | Exit::Call(one, other) => [Some(one), Some(other)],
            _ => [None, None],
        };
        next.into_iter().flatten()
    };
    let within = |number: Number| {
        let next = graph.successors(number);
        next.filter(|&it| !graph.node(it).starts)
    };
    let mut refuse = |number: Number, reason| {
        let address = text.address(graph.node(number).start);
        refusals.push(Refusal::new(address, reason));
    };
    for number in closing(graph.nodes.len(), silent) {
        refuse(number, Reason::Silent);
    }
    for number in closing(graph.nodes.len(), within) {
        refuse(number, Reason::CycleInRegion);
    }
}

/// Says whether each way through a block leaves a word or a path bit.
fn says(node: &Node) -> bool {
    let recorded = |it: &Mark| !matches!(it, Mark::Edge { .. });
    node.bits > 0
        || node.marks.iter().any(recorded)
        || matches!(
            node.exit,
            Exit::IndirectCall { .. } | Exit::IndirectBranch { .. }
        )
}

/// Finds blocks to which an edge of a depth-first search leads back: none if there is no cycle.
fn closing<I: Iterator<Item = Number>>(
    nodes: usize,
    successors: impl Fn(Number) -> I,
) -> Vec<Number> {
    let mut seen = vec![false; nodes];
    let mut open = vec![false; nodes];
    let mut found = Vec::new();
    for root in 0..nodes as Number {
        let mut stack = Vec::new();
        let mut next = Some(root).filter(|&it| !seen[it as usize]);
        loop {
            if let Some(number) = next.take() {
                seen[number as usize] = true;
                open[number as usize] = true;
                stack.push((number, successors(number)));
            }
            let Some((number, edges)) = stack.last_mut() else {
                break;
            };
            match edges.next() {
                Some(to) if open[to as usize] => found.push(to),
                Some(to) => next = Some(to).filter(|&it| !seen[it as usize]),
                None => {
                    open[*number as usize] = false;
                    stack.pop();
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
