// SPDX-License-Identifier: MIT OR Apache-2.0
//! How often blocks and edges run: what the compiler believes, or else what loops suggest.

use crate::block::Block;

/// How often a loop runs of which nothing is known.
const ROUNDS: f64 = 8.0;

/// How often each edge of each block is followed, in the order of its successors.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_wrap)]
pub fn edges(blocks: &[Block], successors: &[Vec<usize>], depths: &[u32]) -> Vec<Vec<f64>> {
    let is_known = blocks.iter().all(|it| it.often.is_some());
    let one = |(index, to): (usize, &Vec<usize>)| {
        let block = &blocks[index];
        let often = match block.often {
            // Nothing is free, even if the compiler believes that it never runs.
            Some(it) if is_known => it as f64 + 1.0,
            _ => ROUNDS.powi(depths[index] as i32),
        };
        match (to.as_slice(), block.odds) {
            (&[_, _], Some((taken, falls))) if taken + falls > 0 => {
                let share = taken as f64 / (taken + falls) as f64;
                vec![often * share, often * (1.0 - share)]
            }
            (&[taken, falls], _) => {
                let share = match depths[taken].cmp(&depths[falls]) {
                    std::cmp::Ordering::Greater => 1.0 - 1.0 / ROUNDS,
                    std::cmp::Ordering::Equal => 0.5,
                    std::cmp::Ordering::Less => 1.0 / ROUNDS,
                };
                vec![often * share, often * (1.0 - share)]
            }
            (others, _) => vec![often; others.len()],
        }
    };
    successors.iter().enumerate().map(one).collect()
}
