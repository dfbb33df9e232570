// SPDX-License-Identifier: MIT OR Apache-2.0
//! The user roots of a stopped machine: those that a CPU has in TTBR0_EL1, and all others that
//! the pool holds.
//!
//! A process that does not run has its root in the pool as well. Nothing that we trust lists
//! them, but their shape tells: only a root leads through three further tables of the pool, and
//! no entry of the pool leads to it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::descriptor::{self, Entry, PAGE};
use super::memory::{Memory, Words};

/// Roots in `pools` that `known` does not have.
pub fn dormant(memory: &dyn Memory, pools: &[Range<u64>], known: &BTreeSet<u64>) -> Vec<u64> {
    let mut pages = BTreeMap::new();
    for pool in pools {
        for pa in pool.clone().step_by(PAGE as usize) {
            if let Some(words) = memory
                .page(pa)
                .filter(|it| it.iter().any(|word| *word != 0))
            {
                pages.insert(pa, words);
            }
        }
    }
    let children: BTreeSet<u64> = pages.values().flat_map(|it| tables(it)).collect();
    let candidates = pages.keys().copied();
    candidates
        .filter(|it| !children.contains(it) && !known.contains(it) && depth(&pages, *it, 3) == 3)
        .collect()
}

fn tables(words: &Words) -> impl Iterator<Item = u64> {
    words
        .iter()
        .filter_map(|raw| match descriptor::read(*raw, 0) {
            Entry::Table(next) => Some(next),
            _ => None,
        })
}

/// How many tables of the pool follow each other below `table`, up to `limit`.
fn depth(pages: &BTreeMap<u64, Box<Words>>, table: u64, limit: u32) -> u32 {
    let Some(words) = pages.get(&table).filter(|_| limit > 0) else {
        return 0;
    };
    let below = tables(words).filter(|it| pages.contains_key(it));
    below
        .map(|it| 1 + depth(pages, it, limit - 1))
        .max()
        .unwrap_or(0)
}
