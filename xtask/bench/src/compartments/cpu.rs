// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loops that compute.

use anyhow::Result;
use comfy_table::Table;
use donjon_figures::records::compartments::{Goal, Loop, Loops};

use super::lines::{self, median};
use super::{Measured, goal};
use crate::table::{more, rounded, table};

/// The loops.
const NAMES: [&str; 4] = ["math", "integer", "float", "array"];
/// Size and trials.
const QUICK: (u64, u64) = (4, 3);
const FULL: (u64, u64) = (20, 20);
/// What a loop may take inside, for one that it takes outside.
const MOST: f64 = 1.01;

/// What the guest runs.
pub fn command(quick: bool) -> String {
    let (size, trials) = if quick { QUICK } else { FULL };
    format!("donjon-compare cpu {size} {trials}")
}

impl Measured for Loops {
    fn of(text: &str) -> Result<Self> {
        let one = |name| -> Result<Loop> {
            let trials: Vec<[u64; 3]> = lines::rows(text, name)?;
            let median = |column: usize| median(trials.iter().map(|it| it[column]));
            Ok(Loop {
                name: name.into(),
                outside: median(1),
                inside: median(2),
                trials,
            })
        };
        let loops = NAMES.into_iter().map(one).collect::<Result<_>>()?;
        Ok(Self { loops })
    }

    fn goals(&self) -> Vec<Goal> {
        let goal = |it: &Loop| {
            let name = format!("{} inside to outside", it.name);
            goal::ratio(name, it.inside, it.outside, MOST)
        };
        self.loops.iter().map(goal).collect()
    }

    fn table(&self) -> Table {
        let rows = self.loops.iter().map(|it| {
            let [outside, inside] = [it.outside, it.inside].map(|it| rounded(it, 0));
            vec![
                it.name.clone(),
                outside,
                inside,
                more(it.inside, it.outside),
            ]
        });
        table(1, ["loop", "outside", "inside", "more"], rows)
    }
}
