// SPDX-License-Identifier: MIT OR Apache-2.0
//! A basis of the trails that is brought into the form in which few places tell a trail.

use crate::code::{Code, Trail, add};

/// A place: a bit of an addition.
pub type Place = (usize, u32);

/// The trails of the basis that one place tells from all others, and their sum: one trail, or three
/// where each operand of the addition tells one.
pub type Choices = Vec<Trail>;

/// Lists all places of a code.
pub fn places(code: &Code) -> Vec<Place> {
    let additions = 0..code.additions;
    additions
        .flat_map(|addition| (0..63).map(move |bit| (addition, bit)))
        .collect()
}

/// Eliminates at places in their order until each trail of the basis has one of its own.
///
/// Returns the places that were looked at, and the choices of each that has trails. `None`: the
/// places do not tell all trails.
pub fn eliminate(code: &Code, order: &[Place]) -> Option<(usize, Vec<Choices>)> {
    let mut rows = code.basis.clone();
    let (mut done, mut looked, mut owned) = (0, 0, Vec::new());
    for &(addition, bit) in order {
        if done == rows.len() {
            break;
        }
        looked += 1;
        let first = done;
        for column in [2 * addition, 2 * addition + 1] {
            let set = |row: &Trail| row[column] >> bit & 1 != 0;
            let Some(place) = rows[done..].iter().position(set) else {
                continue;
            };
            rows.swap(done, done + place);
            let pivot = std::mem::take(&mut rows[done]);
            for row in rows.iter_mut().filter(|row| !row.is_empty() && set(row)) {
                add(row, &pivot);
            }
            rows[done] = pivot;
            done += 1;
        }
        if done > first {
            owned.push(first..done);
        }
    }
    let choices = |range: std::ops::Range<usize>| match &rows[range] {
        [left, right] => {
            let mut both = left.clone();
            add(&mut both, right);
            vec![left.clone(), right.clone(), both]
        }
        one => one.to_vec(),
    };
    let whole = done == rows.len();
    whole.then(|| (looked, owned.into_iter().map(choices).collect()))
}
