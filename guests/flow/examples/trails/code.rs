// SPDX-License-Identifier: MIT OR Apache-2.0
//! The linear trails of a number of records: all sums of the trails of a basis.

use crate::record::{Record, Step};

/// Bits of an addition whose differences cost something: a carry out of bit 63 goes nowhere.
pub const COSTLY: u64 = (1 << 63) - 1;

/// A trail with additions taken as exclusive ors: the differences of both operands of each
/// addition, one after the other, and then the difference that each injection has.
pub type Trail = Vec<u64>;

/// A trail, and how the last state differs.
type Row = (Trail, [u64; 4]);

/// The trails that begin and end in states that differ in no word but those injected into.
pub struct Code {
    /// A basis of the trails.
    pub basis: Vec<Trail>,
    /// How many additions a trail passes.
    pub additions: usize,
    /// How many dimensions cost nothing and were left out.
    pub free: usize,
}

/// Sums a trail up into another one.
pub fn add(to: &mut [u64], from: &[u64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to ^= from;
    }
}

/// The weight of a trail: one for each bit below bit 63 of an addition in which an operand differs.
pub fn weight(operands: &[u64]) -> u32 {
    let (pairs, _) = operands.as_chunks::<2>();
    let bits = pairs
        .iter()
        .map(|[left, right]| ((left | right) & COSTLY).count_ones());
    bits.sum()
}

/// Takes a row that `differs` out, and makes all others not differ.
fn take(rows: &mut Vec<Row>, differs: impl Fn(&Row) -> bool) -> Option<Row> {
    let place = rows.iter().position(&differs)?;
    let pivot = rows.swap_remove(place);
    for row in rows.iter_mut().filter(|row| differs(row)) {
        add(&mut row.0, &pivot.0);
        add(&mut row.1, &pivot.1);
    }
    Some(pivot)
}

/// Follows one injected difference through records. Returns the trail, and how the last state
/// differs.
fn follow(record: &Record, records: usize, injection: usize, difference: u64) -> Row {
    let mut state = [0; 4];
    let (mut operands, mut injections) = (Vec::new(), Vec::new());
    for step in std::iter::repeat_n(&record.steps, records).flatten() {
        match *step {
            Step::Inject(to) => {
                let now = if injections.len() == injection {
                    difference
                } else {
                    0
                };
                injections.push(now);
                state[to] ^= now;
            }
            Step::Add(to, from) => {
                operands.extend([state[to], state[from]].map(|word| word << (64 - record.width)));
                state[to] ^= state[from];
            }
            Step::Mix(to, from, bits) => state[to] = state[from] ^ record.rotate(state[to], bits),
            Step::Rotate(to, bits) => state[to] = record.rotate(state[to], bits),
        }
    }
    operands.extend(injections);
    (operands, state)
}

impl Code {
    /// Finds the trails of a number of records whose differences repeat after `period` bits.
    pub fn new(record: &Record, records: usize, period: u32) -> Self {
        let injected = record.injected();
        let repeated = record.mask() / (u64::MAX >> (64 - period));
        let mut rows = Vec::new();
        for injection in 0..records * injected.len() {
            for bit in 0..period {
                rows.push(follow(record, records, injection, repeated << bit));
            }
        }
        let bound = (0..4).filter(|word| !injected.contains(word));
        for (word, bit) in bound.flat_map(|word| (0..record.width).map(move |bit| (word, bit))) {
            take(&mut rows, |row| row.1[word] >> bit & 1 != 0);
        }
        let additions = record
            .steps
            .iter()
            .filter(|step| matches!(step, Step::Add(..)));
        let additions = records * additions.count();
        let mut basis = Vec::new();
        for (operand, bit) in (0..2 * additions).flat_map(|one| (0..63).map(move |bit| (one, bit)))
        {
            basis.extend(take(&mut rows, |row| row.0[operand] >> bit & 1 != 0).map(|row| row.0));
        }
        Self {
            basis,
            additions,
            free: rows.len(),
        }
    }
}
