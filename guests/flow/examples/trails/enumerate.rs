// SPDX-License-Identifier: MIT OR Apache-2.0
//! All trails that differ at few places of a group.

use crate::code::{Trail, add, weight};
use crate::systematic::Choices;

/// The lightest trail that was met.
pub struct Best {
    /// The trail's weight.
    pub weight: u32,
    /// The trail; empty as long as none was met.
    pub trail: Trail,
}

impl Best {
    /// Begins without a trail: any lighter one than `weight` counts.
    pub fn below(weight: u32) -> Self {
        Self {
            weight,
            trail: Vec::new(),
        }
    }

    /// Keeps the sum of two trails if it is the lightest one.
    fn offer(&mut self, left: &[u64], right: &[u64], operands: usize) {
        let mut sum = 0;
        let pairs = left[..operands]
            .chunks(24)
            .zip(right[..operands].chunks(24));
        for (left, right) in pairs {
            let mut both = [0; 24];
            for ((to, left), right) in both.iter_mut().zip(left).zip(right) {
                *to = left ^ right;
            }
            sum += weight(&both);
            if sum >= self.weight {
                return;
            }
        }
        if sum > 0 {
            self.weight = sum;
            self.trail = left.to_vec();
            add(&mut self.trail, right);
        }
    }
}

/// Tries all sums of trails of up to `most` of the places.
pub fn enumerate(places: &[Choices], most: usize, operands: usize, best: &mut Best) {
    let Some(length) = places.iter().flatten().map(Vec::len).next() else {
        return;
    };
    let mut sums = vec![vec![0; length]; most];
    descend(places, &mut sums, operands, best);
}

/// Adds a trail of one more place to the first of the sums, and goes on with the sums behind it.
fn descend(places: &[Choices], sums: &mut [Trail], operands: usize, best: &mut Best) {
    let Some((sum, deeper)) = sums.split_first_mut() else {
        return;
    };
    for (number, choices) in places.iter().enumerate() {
        for trail in choices {
            best.offer(sum, trail, operands);
            if let Some(next) = deeper.first_mut() {
                next.copy_from_slice(sum);
                add(next, trail);
                descend(&places[number + 1..], deeper, operands, best);
            }
        }
    }
}
