// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lightest trail of a code: a search by chance, and a bound that holds for certain.

use std::time::{Duration, Instant};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::code::Code;
use crate::enumerate::{Best, enumerate};
use crate::systematic::{Place, eliminate, places};

/// Puts places into an order by chance.
fn shuffle(places: &mut [Place], random: &mut Xoshiro256PlusPlus) {
    for last in (1..places.len()).rev() {
        let other = random.next_u64() % (last as u64 + 1);
        places.swap(last, other as usize);
    }
}

/// Searches for light trails with information sets: orders of the places by chance, and all sums
/// of trails of up to two places. Returns the lightest one and the number of orders.
pub fn search(code: &Code, seed: u64, time: Duration) -> (Best, usize) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut best, mut order) = (Best::below(u32::MAX), places(code));
    let start = Instant::now();
    let mut orders = 0;
    while orders == 0 || start.elapsed() < time {
        shuffle(&mut order, &mut random);
        if let Some((_, places)) = eliminate(code, &order) {
            enumerate(&places, 2, 2 * code.additions, &mut best);
        }
        orders += 1;
    }
    (best, orders)
}

/// Cuts the places into groups that tell all trails each, and tries all trails that differ at up
/// to `most` places of a group. Any other trail differs at more places of every group.
///
/// Returns the lightest trail below `limit` that was met, and the weight that the others have at
/// least.
pub fn bound(code: &Code, seed: u64, most: usize, limit: u32) -> (Best, usize) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut best, mut order) = (Best::below(limit), places(code));
    shuffle(&mut order, &mut random);
    let (mut rest, mut groups) = (&order[..], 0);
    while let Some((looked, places)) = eliminate(code, rest) {
        enumerate(&places, most, 2 * code.additions, &mut best);
        rest = &rest[looked..];
        groups += 1;
    }
    (best, groups * (most + 1))
}
