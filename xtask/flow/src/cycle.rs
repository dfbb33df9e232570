// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cycles of the program's text that would leave no word: they get a bit.
//!
//! A region with one path has no bits of its own. Loops and recursion can lead from one such region
//! to the next and around.

use std::collections::HashMap;

use crate::block::End;
use crate::plan::{Plan, has_word};
use crate::unit::Unit;

/// A region: the function's number and its first block.
type Node = (usize, usize);

/// The functions of a program by the names that each file knows.
#[derive(Debug)]
pub struct Names {
    local: Vec<HashMap<String, usize>>,
    global: HashMap<String, usize>,
}

impl Names {
    /// Collects names. `functions` has the file and the name of each function.
    pub fn new(units: &[Unit], functions: &[(usize, String)]) -> Self {
        let mut local = vec![HashMap::new(); units.len()];
        let mut global = HashMap::new();
        for (index, (unit, name)) in functions.iter().enumerate() {
            local[*unit].insert(name.clone(), index);
        }
        for (unit, file) in units.iter().enumerate() {
            let mut found = local[unit].clone();
            for (alias, symbol) in &file.aliases {
                if let Some(&it) = local[unit].get(symbol) {
                    found.insert(alias.clone(), it);
                }
            }
            let seen = found.iter().filter(|it| file.global.contains(it.0));
            global.extend(seen.map(|(name, it)| (name.clone(), *it)));
            local[unit] = found;
        }
        Self { local, global }
    }

    fn find(&self, unit: usize, name: &str) -> Option<usize> {
        let local = self.local[unit].get(name);
        local.or_else(|| self.global.get(name)).copied()
    }
}

/// Gives bits to regions until no cycle is without a word. `units` has the file of each plan.
pub fn force_bits(plans: &mut [Plan], units: &[usize], names: &Names) {
    while let Some((function, block)) = cycle(plans, units, names) {
        plans[function].forced[block] = true;
    }
}

/// A region on a cycle of regions that leave no word.
fn cycle(plans: &[Plan], units: &[usize], names: &Names) -> Option<Node> {
    let mut marks: HashMap<Node, bool> = HashMap::new();
    let all = plans.iter().enumerate().flat_map(|(function, plan)| {
        let blocks = 0..plan.blocks.len();
        let starts = blocks.filter(|&it| plan.numbers.starts[it] && plan.bits(it) == 0);
        starts.map(move |it| (function, it))
    });
    for root in all {
        if marks.contains_key(&root) {
            continue;
        }
        marks.insert(root, true);
        let mut stack = vec![(root, next(plans, units, names, root))];
        while let Some((node, left)) = stack.last_mut() {
            let Some(to) = left.pop() else {
                marks.insert(*node, false);
                stack.pop();
                continue;
            };
            match marks.get(&to) {
                Some(true) => return Some(to),
                Some(false) => {}
                None => {
                    marks.insert(to, true);
                    let left = next(plans, units, names, to);
                    stack.push((to, left));
                }
            }
        }
    }
    None
}

/// The regions without bits that the only path of a region without bits leads to, if it leaves no
/// word on the way.
fn next(plans: &[Plan], units: &[usize], names: &Names, (function, start): Node) -> Vec<Node> {
    let plan = &plans[function];
    let entry = |name: &str| names.find(units[function], name).map(|it| (it, 0));
    let mut block = start;
    let found = loop {
        if has_word(plan, block) {
            return Vec::new();
        }
        match (&plan.blocks[block].end, plan.paths[block].as_slice()) {
            (_, &[to]) if plan.numbers.starts[to] => break vec![(function, to)],
            (_, &[to]) => block = to,
            (End::Call(_, name), _) => {
                let site = Some((function, block + 1));
                let site = site.filter(|it| it.1 < plan.blocks.len());
                break entry(name).into_iter().chain(site).collect();
            }
            (End::Leave(_, name), _) => break entry(name).into_iter().collect(),
            _ => return Vec::new(),
        }
    };
    let has_bits = |it: &Node| plans[it.0].bits(it.1) > 0;
    found.into_iter().filter(|it| !has_bits(it)).collect()
}
