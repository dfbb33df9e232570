// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loops of a graph of blocks.

use std::collections::HashSet;

use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;

/// Finds the targets of retreating edges of a depth-first walk. Edges into `cut` nodes are not
/// followed: without them and without edges into what is found, the graph has no cycle.
pub fn headers(successors: &[Vec<usize>], cut: &[bool]) -> Vec<usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; successors.len()];
    let mut found = Vec::new();
    for root in 0..successors.len() {
        if marks[root] != Mark::New {
            continue;
        }
        marks[root] = Mark::Open;
        let mut stack = vec![(root, 0)];
        while let Some((node, index)) = stack.last_mut() {
            let Some(&to) = successors[*node].get(*index) else {
                marks[*node] = Mark::Done;
                stack.pop();
                continue;
            };
            *index += 1;
            if cut[to] {
                continue;
            }
            match marks[to] {
                Mark::New => {
                    marks[to] = Mark::Open;
                    stack.push((to, 0));
                }
                Mark::Open => found.push(to),
                Mark::Done => {}
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Finds how many loops each node is in.
pub fn depths(successors: &[Vec<usize>]) -> Vec<u32> {
    let mut depths = vec![0; successors.len()];
    let all: Vec<_> = (0..successors.len()).collect();
    let mut work = vec![(all, HashSet::new())];
    while let Some((nodes, removed)) = work.pop() {
        for part in components(successors, &nodes, &removed) {
            let members: HashSet<_> = part.iter().copied().collect();
            let enters = |to: usize| {
                nodes
                    .iter()
                    .any(|from| !members.contains(from) && successors[*from].contains(&to))
            };
            for &node in &part {
                depths[node] += 1;
            }
            // The first block of the text stands in for a header that nothing outside leads to.
            let first = part.iter().copied().min();
            let header = part.iter().copied().filter(|&it| enters(it)).min();
            let mut removed = removed.clone();
            removed.extend(header.or(first));
            work.push((part, removed));
        }
    }
    depths
}

/// The strongly connected parts that have a cycle, without edges into `removed` nodes.
fn components(
    successors: &[Vec<usize>],
    nodes: &[usize],
    removed: &HashSet<usize>,
) -> Vec<Vec<usize>> {
    let members: HashSet<_> = nodes.iter().copied().collect();
    let is_edge = |to: &usize| members.contains(to) && !removed.contains(to);
    let mut graph = DiGraph::<usize, ()>::new();
    let mut places = vec![None; successors.len()];
    for &node in nodes {
        places[node] = Some(graph.add_node(node));
    }
    for &from in nodes {
        for to in successors[from].iter().filter(|it| is_edge(it)) {
            if let (Some(from), Some(to)) = (places[from], places[*to]) {
                graph.add_edge(from, to, ());
            }
        }
    }
    let parts = tarjan_scc(&graph).into_iter();
    let parts = parts.map(|part| part.into_iter().map(|it| graph[it]).collect::<Vec<_>>());
    let has_cycle = |part: &Vec<usize>| {
        part.len() > 1 || (successors[part[0]].contains(&part[0]) && !removed.contains(&part[0]))
    };
    parts.filter(has_cycle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blocks_of_nested_loops_have_their_depths() {
        // 0 -> 1 -> 2 -> 2, 2 -> 3, 3 -> 1, 3 -> 4
        let graph = [vec![1], vec![2], vec![2, 3], vec![1, 4], vec![]];
        assert_eq!(depths(&graph), [0, 1, 2, 1, 0]);
        assert_eq!(headers(&graph, &[false; 5]), [1, 2]);
    }

    #[test]
    fn a_loop_with_two_entries_is_cut_once() {
        let graph = [vec![1, 2], vec![2], vec![1, 3], vec![]];
        assert_eq!(headers(&graph, &[false; 4]).len(), 1);
        assert_eq!(depths(&graph), [0, 1, 1, 0]);
    }
}
