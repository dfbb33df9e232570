// SPDX-License-Identifier: MIT OR Apache-2.0
//! R4: what a return and a branch out of a function use as x30 was set by the call that led there,
//! or recorded.

use crate::graph::{Exit, Graph, Link, Number};
use crate::refusal::{Reason, Refusal};
use crate::text::Text;

/// Finds returns and indirect branches before which x30 may be what no record says.
///
/// x30 is in order where a call leads to. At the program's entry nothing set it, and where a call
/// returned to it is the address of that place: another return by it would lead there once more,
/// without end and without a word.
pub fn link(text: &Text, graph: &Graph, refusals: &mut Vec<Refusal>) {
    let mut changed = vec![false; graph.nodes.len()];
    let mut work = vec![graph.entry];
    for (number, node) in graph.nodes.iter().enumerate() {
        if let Exit::Call(_, back) | Exit::IndirectCall { back, .. } = node.exit {
            work.push(back);
        }
        if node.link == Link::Changed {
            work.extend(graph.successors(number as Number));
        }
    }
    while let Some(number) = work.pop() {
        if !std::mem::replace(&mut changed[number as usize], true)
            && graph.node(number).link == Link::Kept
        {
            work.extend(graph.successors(number));
        }
    }
    for (node, changed) in graph.nodes.iter().zip(changed) {
        let leaves = matches!(node.exit, Exit::Return | Exit::IndirectBranch { .. });
        let spoilt = match node.link {
            Link::Kept => changed,
            Link::Recorded => false,
            Link::Changed => true,
        };
        if leaves && spoilt {
            refusals.push(Refusal::new(text.address(node.end - 1), Reason::Link));
        }
    }
}
