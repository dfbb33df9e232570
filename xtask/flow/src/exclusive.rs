// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exclusive accesses: nothing that stores may be put between the load and its store, or the
//! monitor is lost each time and the program never goes on.

use crate::assembly::{Class, Instruction};
use crate::block::Block;

/// Tells of each block whether it begins between an exclusive load and its store.
pub fn within(blocks: &[Block], successors: &[Vec<usize>]) -> Vec<bool> {
    let opens = |it: &Instruction| {
        matches!(it.class(), Some(Class::Exclusive | Class::ExclusivePair)).then_some(true)
    };
    let stores = |it: &Instruction| (it.class() == Some(Class::Conclude)).then_some(true);
    let closes = |it: &Instruction| {
        matches!(it.class(), Some(Class::Conclude | Class::Close)).then_some(false)
    };
    let mut is_open = vec![false; blocks.len()];
    let mut is_needed = vec![false; blocks.len()];
    loop {
        let mut is_done = true;
        for (index, block) in blocks.iter().enumerate() {
            let mut backwards = block.instructions().rev();
            let last = backwards.find_map(|it| opens(it).or(closes(it)));
            let open = last.unwrap_or(is_open[index]) && !block.calls();
            for &to in successors[index].iter().filter(|_| open) {
                is_done &= std::mem::replace(&mut is_open[to], true);
            }
            let first = block
                .instructions()
                .find_map(|it| stores(it).or(opens(it).map(|_| false)));
            let later = !block.calls() && successors[index].iter().any(|&to| is_needed[to]);
            let needed = first.unwrap_or(later);
            is_done &= is_needed[index] == needed;
            is_needed[index] = needed;
        }
        if is_done {
            break;
        }
    }
    let both = is_open.iter().zip(&is_needed);
    both.map(|(open, needed)| *open && *needed).collect()
}
