// SPDX-License-Identifier: MIT OR Apache-2.0
//! Blocks of memory.

use std::array;

use anyhow::{Context, Result, ensure};
use comfy_table::Table;
use donjon_figures::records::compartments::{Costs, Goal, Size, Sizes};

use super::{Measured, goal, lines};
use crate::table::{rounded, table};

/// MB of the blocks: the first one, of which the others are multiples, and how many there are.
const QUICK: (u64, u64) = (10, 5);
const FULL: (u64, u64) = (10, 100);
/// Rows of the table.
const ROWS: usize = 10;
const PAGES_OF_MB: u64 = 256;
/// What writing and reading may take inside, for one that they take outside; and growing.
const ACCESS_MAX: f64 = 1.02;
const GROW_MAX: f64 = 1.0;
/// MB from which on taking the memory from Linux counts as well: the search of all other tables
/// costs the same for less.
const RESERVED_FROM: u64 = 20;

/// Reads a line of the guest's.
fn costs(line: &[u64]) -> Costs {
    Costs {
        grow: line[1],
        write: line[2],
        read: line[3],
        release: line[4],
    }
}

/// Lines of one size, which stand together and begin with it, made one: the medians of what was
/// measured, which is not 0. There is an odd number of samples, so they are instructions as
/// counted.
fn samples<const COUNT: usize>(text: &str, name: &str) -> Result<Vec<[u64; COUNT]>> {
    let rows = lines::rows::<COUNT>(text, name)?;
    let sizes = rows.chunk_by(|one, other| one[0] == other[0]);
    Ok(sizes
        .map(|of_size| {
            array::from_fn(|column| {
                let measured = of_size.iter().map(|it| it[column]).filter(|it| *it != 0);
                // That of none is no number, which becomes 0.
                lines::median(measured) as u64
            })
        })
        .collect())
}

/// What the guest runs.
pub fn command(quick: bool) -> String {
    let (first, count) = if quick { QUICK } else { FULL };
    let words: Vec<String> = (1..=count).map(|it| (it * first).to_string()).collect();
    format!("donjon-compare memory {}", words.join(" "))
}

impl Measured for Sizes {
    fn of(text: &str) -> Result<Self> {
        let outside = samples::<5>(text, "outside")?;
        let inside = samples::<7>(text, "inside")?;
        ensure!(outside.len() == inside.len(), "a size is missing");
        let sizes = inside.iter().zip(&outside).map(|(inside, outside)| {
            ensure!(inside[0] == outside[0], "sizes are not the same");
            Ok(Size {
                megabytes: inside[0],
                inside: costs(inside),
                outside: costs(outside),
                reserve: inside[5],
                end: inside[6],
            })
        });
        Ok(Self {
            sizes: sizes.collect::<Result<_>>().context("sizes of memory")?,
        })
    }

    /// What should be so, for the size for which it is least so.
    fn goals(&self) -> Vec<Goal> {
        let worst = |name: &str, most: f64, ratio: &dyn Fn(&Size) -> Option<(u64, u64)>| {
            let ratios = self.sizes.iter().filter_map(ratio);
            let ratios = ratios.map(|(inside, outside)| inside as f64 / outside as f64);
            goal::at_most(name, ratios.fold(f64::NAN, f64::max), most)
        };
        vec![
            worst("writing inside to outside", ACCESS_MAX, &|it| {
                Some((it.inside.write, it.outside.write))
            }),
            worst("reading inside to outside", ACCESS_MAX, &|it| {
                Some((it.inside.read, it.outside.read))
            }),
            worst(
                "growing by memory that was reserved, inside to outside",
                GROW_MAX,
                &|it| Some((it.inside.grow, it.outside.grow)),
            ),
            worst(
                "reserving and growing, from 20 MB on, inside to outside",
                GROW_MAX,
                &|it| {
                    let inside = it.inside.grow + it.reserve;
                    (it.megabytes >= RESERVED_FROM).then_some((inside, it.outside.grow))
                },
            ),
        ]
    }

    fn table(&self) -> Table {
        let header = "MB|reserve|grow|outside|write|outside|read|outside|release|\
                      outside|end"
            .split('|');
        let step = self.sizes.len().div_ceil(ROWS).max(1);
        let rows = self.sizes.iter().skip(step - 1).step_by(step).map(|it| {
            let pages = (it.megabytes * PAGES_OF_MB) as f64;
            let Size {
                inside, outside, ..
            } = it;
            let mut row = vec![it.megabytes.to_string()];
            let figures = [
                it.reserve,
                inside.grow,
                outside.grow,
                inside.write,
                outside.write,
                inside.read,
                outside.read,
                inside.release,
                outside.release,
                it.end,
            ];
            row.extend(figures.map(|it| rounded(it as f64 / pages, 1)));
            row
        });
        table(1, header, rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_a_size_are_one_row() {
        let text = "outside: 10 5 9 8 1\noutside: 10 3 7 0 2\noutside: 10 4 11 0 9\n\
                    outside: 20 1 1 1 1\n";
        let rows = samples(text, "outside").expect("rows");
        assert_eq!(rows, [[10, 4, 9, 8, 2], [20, 1, 1, 1, 1]]);
    }
}
