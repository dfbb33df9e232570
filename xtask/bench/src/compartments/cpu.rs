// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loops that compute.

use anyhow::Result;
use comfy_table::Table;
use serde::Serialize;

use super::goal::Goal;
use super::lines::{self, median};
use super::table;

/// The loops.
const NAMES: [&str; 4] = ["math", "integer", "float", "array"];
/// Size and trials.
const QUICK: (u64, u64) = (4, 3);
const FULL: (u64, u64) = (20, 20);
/// What a loop may take inside, for one that it takes outside.
const MOST: f64 = 1.01;

/// All loops.
#[derive(Debug, Serialize)]
pub struct Loops {
    /// Inside and outside.
    pub loops: Vec<Loop>,
}

/// A loop.
#[derive(Debug, Serialize)]
pub struct Loop {
    /// Name of the loop.
    pub name: &'static str,
    /// Median instructions in a process.
    pub outside: f64,
    /// In a compartment.
    pub inside: f64,
    /// Each trial: its number, outside, inside.
    pub trials: Vec<[u64; 3]>,
}

/// What the guest runs.
pub fn command(quick: bool) -> String {
    let (size, trials) = if quick { QUICK } else { FULL };
    format!("donjon-compare cpu {size} {trials}")
}

impl Loops {
    /// Reads what the guest printed.
    pub fn of(text: &str) -> Result<Self> {
        let one = |name| -> Result<Loop> {
            let trials: Vec<[u64; 3]> = lines::rows(text, name)?;
            Ok(Loop {
                name,
                outside: median(trials.iter().map(|it| it[1])),
                inside: median(trials.iter().map(|it| it[2])),
                trials,
            })
        };
        let loops = NAMES.into_iter().map(one).collect::<Result<_>>()?;
        Ok(Self { loops })
    }

    /// What should be so.
    pub fn goals(&self) -> Vec<Goal> {
        let goal = |it: &Loop| {
            Goal::ratio(
                format!("{} inside to outside", it.name),
                it.inside,
                it.outside,
                MOST,
            )
        };
        self.loops.iter().map(goal).collect()
    }

    /// Lays the figures out as a table.
    pub fn table(&self) -> Table {
        let rows = self.loops.iter().map(|it| {
            let mut row = vec![it.name.to_owned()];
            row.extend([it.outside, it.inside].map(|it| format!("{it:.0}")));
            row.push(format!("{:+.2} %", (it.inside / it.outside - 1.0) * 100.0));
            row
        });
        table(&["loop", "outside", "inside", "more"], rows)
    }
}
