// SPDX-License-Identifier: MIT OR Apache-2.0
//! Folds what repeats in a sequence, for people.

/// Most items of a pattern that is looked for.
const LONGEST: usize = 8;

/// Items, and how often they come one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folded<'a> {
    /// The items, once.
    pub items: &'a [usize],
    /// How often they come.
    pub times: usize,
}

/// Folds a sequence: at each place the pattern of at most eight items that covers most.
pub fn fold(all: &[usize]) -> Vec<Folded<'_>> {
    let mut folded = Vec::new();
    let mut rest = all;
    while !rest.is_empty() {
        let mut best = Folded {
            items: &rest[..1],
            times: repeats(rest, 1),
        };
        for length in 2..=LONGEST.min(rest.len() / 2) {
            let times = repeats(rest, length);
            if times > 1 && times * length > best.times * best.items.len() {
                best = Folded {
                    items: &rest[..length],
                    times,
                };
            }
        }
        rest = &rest[best.times * best.items.len()..];
        folded.push(best);
    }
    folded
}

/// How often the first items of a sequence come one behind the other.
fn repeats(all: &[usize], length: usize) -> usize {
    let first = &all[..length];
    let pieces = all.chunks_exact(length);
    pieces.take_while(|it| *it == first).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_repeats_is_written_once() {
        let folded = fold(&[0, 1, 2, 1, 2, 1, 2, 3, 3, 0]);
        let words: Vec<_> = folded.iter().map(|it| (it.items, it.times)).collect();
        let expected: [(&[usize], usize); 4] = [(&[0], 1), (&[1, 2], 3), (&[3], 2), (&[0], 1)];
        assert_eq!(words, expected);
    }

    #[test]
    fn folding_loses_nothing() {
        let all: Vec<usize> = (0..400).map(|it| it * it / 7 % 5).collect();
        let unfolded: Vec<_> = fold(&all)
            .iter()
            .flat_map(|it| it.items.repeat(it.times))
            .collect();
        assert_eq!(unfolded, all);
    }
}
