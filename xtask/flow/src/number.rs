// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers of edges that tell the paths through a region apart: those of Ball and Larus.

/// Most paths of a region.
pub const MOST: u64 = 1 << donjon_flow_chain::MAX_BITS;

/// Regions of a graph, and the numbers of its edges.
#[derive(Debug)]
pub struct Numbers {
    /// Whether a region begins at a node.
    pub starts: Vec<bool>,
    /// How many paths lead from a node to the ends of regions.
    pub paths: Vec<u64>,
    /// The number of each edge.
    pub edges: Vec<Vec<u64>>,
}

impl Numbers {
    /// Returns how many bits the paths from a node need.
    pub fn bits(&self, node: usize) -> u32 {
        self.paths[node].next_power_of_two().trailing_zeros()
    }
}

/// Numbers the edges of a graph. A path ends where a node without successor or the start of a
/// region follows. Without edges into `starts` the graph must have no cycle. Where a node would
/// have more than [`MOST`] paths, further regions begin at joins. `first` says of a node which of
/// its edges gets the number 0.
pub fn number(
    successors: &[Vec<usize>],
    mut starts: Vec<bool>,
    first: &dyn Fn(usize) -> usize,
) -> Numbers {
    let entries = entries(successors);
    loop {
        let order = order(successors, &starts);
        match paths(successors, &starts, &order) {
            Ok(paths) => {
                let edges = edges(successors, &starts, &paths, first);
                return Numbers {
                    starts,
                    paths,
                    edges,
                };
            }
            Err((node, paths)) => {
                let place = cut(successors, &starts, &entries, &paths, node);
                starts[place] = true;
            }
        }
    }
}

/// How many edges lead to each node.
fn entries(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut entries = vec![0; successors.len()];
    for &to in successors.iter().flatten() {
        entries[to] += 1;
    }
    entries
}

/// The nodes, each behind those that its edges lead to.
fn order(successors: &[Vec<usize>], starts: &[bool]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut is_seen = vec![false; successors.len()];
    for root in 0..successors.len() {
        if std::mem::replace(&mut is_seen[root], true) {
            continue;
        }
        let mut stack = vec![(root, 0)];
        while let Some((node, index)) = stack.last_mut() {
            let Some(&to) = successors[*node].get(*index) else {
                order.push(*node);
                stack.pop();
                continue;
            };
            *index += 1;
            if !starts[to] && !std::mem::replace(&mut is_seen[to], true) {
                stack.push((to, 0));
            }
        }
    }
    order
}

/// The number of paths from each node; or a node that has too many, and what is known by then.
fn paths(
    successors: &[Vec<usize>],
    starts: &[bool],
    order: &[usize],
) -> Result<Vec<u64>, (usize, Vec<u64>)> {
    let mut paths = vec![0; successors.len()];
    for &node in order {
        let through = |&to: &usize| if starts[to] { 1 } else { paths[to] };
        let all: u64 = successors[node].iter().map(through).sum();
        paths[node] = all.max(1);
        if all > MOST {
            return Err((node, paths));
        }
    }
    Ok(paths)
}

/// Where a region has to begin so that `node` has fewer paths: at the join with most paths, on the
/// way along the edges with most paths.
fn cut(
    successors: &[Vec<usize>],
    starts: &[bool],
    entries: &[usize],
    paths: &[u64],
    node: usize,
) -> usize {
    let most = |node: usize| {
        let inside = successors[node].iter().copied().filter(|&to| !starts[to]);
        inside
            .max_by_key(|&to| paths[to])
            .filter(|&to| paths[to] > 1)
    };
    let first = most(node);
    let mut place = first;
    while let Some(it) = place {
        if entries[it] > 1 {
            return it;
        }
        place = most(it);
    }
    first.unwrap_or(node)
}

fn edges(
    successors: &[Vec<usize>],
    starts: &[bool],
    paths: &[u64],
    first: &dyn Fn(usize) -> usize,
) -> Vec<Vec<u64>> {
    let one = |(node, to): (usize, &Vec<usize>)| {
        let mut numbers = vec![0; to.len()];
        let first = first(node);
        let mut next = 0;
        let others = (0..to.len()).filter(|&it| it != first);
        for edge in (0..to.len()).filter(|&it| it == first).chain(others) {
            numbers[edge] = next;
            next += if starts[to[edge]] { 1 } else { paths[to[edge]] };
        }
        numbers
    };
    successors.iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::loops::headers;

    /// Adds up the numbers along each path from a node to the ends of its region.
    fn sums(successors: &[Vec<usize>], numbers: &Numbers, node: usize, sum: u64) -> Vec<u64> {
        if successors[node].is_empty() {
            return vec![sum];
        }
        let edges = successors[node].iter().zip(&numbers.edges[node]);
        let along = edges.flat_map(|(&to, number)| match numbers.starts[to] {
            true => vec![sum + number],
            false => sums(successors, numbers, to, sum + number),
        });
        along.collect()
    }

    fn graphs() -> impl Strategy<Value = Vec<Vec<usize>>> {
        (2..40_usize).prop_flat_map(|nodes| {
            let near = (-3..8_isize).prop_map(|it| it);
            let edges = prop::collection::vec(
                prop_oneof![4 => near.boxed(), 1 => (-40..40_isize).boxed()],
                0..=2,
            );
            prop::collection::vec(edges, nodes).prop_map(move |all| {
                let target = |from: usize, by: isize| {
                    (from as isize + by).rem_euclid(nodes as isize) as usize
                };
                let edges = all.into_iter().enumerate();
                let edges =
                    edges.map(|(from, by)| by.into_iter().map(|it| target(from, it)).collect());
                edges.collect()
            })
        })
    }

    proptest! {
        #[test]
        fn paths_of_a_region_have_different_sums_that_its_bits_hold(
            graph in graphs(), turned in any::<u64>(),
        ) {
            let mut starts = vec![false; graph.len()];
            starts[0] = true;
            for header in headers(&graph, &starts) {
                starts[header] = true;
            }
            let first = |node: usize| (turned >> (node % 64) & 1) as usize;
            let numbers = number(&graph, starts, &first);
            for node in (0..graph.len()).filter(|&it| numbers.starts[it]) {
                let mut sums = sums(&graph, &numbers, node, 0);
                let bits = numbers.bits(node);
                prop_assert!(bits <= donjon_flow_chain::MAX_BITS);
                prop_assert!(sums.iter().all(|&it| it < 1 << bits));
                let count = sums.len();
                sums.sort_unstable();
                sums.dedup();
                prop_assert_eq!(sums.len(), count);
            }
        }
    }

    #[test]
    fn a_chain_of_twenty_diamonds_is_cut_at_joins() {
        let mut graph = Vec::new();
        for at in (0..60).step_by(3) {
            graph.extend([vec![at + 1, at + 2], vec![at + 3], vec![at + 3]]);
        }
        graph.push(vec![]);
        let mut starts = vec![false; graph.len()];
        starts[0] = true;
        let numbers = number(&graph, starts, &|_| 0);
        let cuts: Vec<_> = (0..graph.len()).filter(|&it| numbers.starts[it]).collect();
        assert!(
            cuts.len() == 2 && cuts.iter().all(|it| it % 3 == 0),
            "{cuts:?}"
        );
    }
}
