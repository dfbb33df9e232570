// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many compartments at once.

use anyhow::{Context, Result};
use comfy_table::Table;
use donjon_figures::records::compartments::{Goal, Number, Series};

use super::{Measured, goal, lines};
use crate::table::table;

/// How many.
const COUNT: (u64, u64) = (200, 10_000);
/// KiB that one may have.
const KIB_MAX: f64 = 64.0;
const FRAME_KIB: u64 = 4;
/// How much more the last one may take than the first.
const GROWTH_MAX: f64 = 1.05;
/// Part of what they had that may stay with Linux or the inner domain when they have ended.
const KEPT_MAX: f64 = 0.01;
/// Compartments at an end of the series of which there is a median.
const SOME: usize = 100;

/// What the guest runs.
pub fn command(quick: bool) -> String {
    let count = if quick { COUNT.0 } else { COUNT.1 };
    format!("donjon-compare number {count}")
}

fn series(text: &str, name: &str) -> Result<Series> {
    let all = lines::all(text, name)?.concat();
    let some = SOME.min(all.len());
    Ok(Series {
        first: *all.first().context("no compartment")?,
        last: *all.last().context("no compartment")?,
        first_median: lines::median(all[..some].iter().copied()),
        last_median: lines::median(all[all.len() - some..].iter().copied()),
        most: all.iter().copied().max().unwrap_or(0),
        mean: all.iter().sum::<u64>() as f64 / all.len() as f64,
    })
}

fn row(name: &str, it: &Series) -> Vec<String> {
    let mut row = vec![name.into(), it.first.to_string(), it.last.to_string()];
    row.extend([it.first_median, it.last_median, it.mean].map(|it| format!("{it:.0}")));
    row.push(it.most.to_string());
    row
}

impl Measured for Number {
    fn of(text: &str) -> Result<Self> {
        let rows = lines::rows(text, "row")?;
        let [frames] = lines::one(text, "frames")?;
        let [back] = lines::one(text, "back")?;
        Ok(Self {
            count: rows.last().map_or(0, |it| it[0]),
            frames,
            made: series(text, "made")?,
            ended: series(text, "ended")?,
            back,
            free_kib: lines::one(text, "free")?,
            rows,
        })
    }

    fn goals(&self) -> Vec<Goal> {
        let [before, alive, after] = self.free_kib.map(|it| it as f64);
        let Series {
            first,
            last,
            first_median,
            last_median,
            ..
        } = self.made;
        let frames = (self.frames * FRAME_KIB) as f64;
        let kept = (before - after).max(0.0);
        vec![
            goal::ratio(
                format!("making number {} to making the first", self.count),
                last as f64,
                first as f64,
                GROWTH_MAX,
            ),
            goal::ratio(
                "the same, medians of 100 at each end",
                last_median,
                first_median,
                GROWTH_MAX,
            ),
            goal::at_most("KiB of private frames of one", frames, KIB_MAX),
            goal::at_most("KiB of free memory for one", self.kib_each(), KIB_MAX),
            goal::ratio(
                "part of that memory which is not free again",
                kept,
                before - alive,
                KEPT_MAX,
            ),
        ]
    }

    fn table(&self) -> Table {
        let header = "of all|first|last|median of the first 100|of the last 100|mean|\
                      most"
            .split('|');
        let [before, alive, after] = self.free_kib;
        let mut rows = vec![row("made", &self.made), row("ended", &self.ended)];
        for (name, value) in [
            ("memory given back, once", self.back),
            ("alive at once", self.count),
            ("frames of each", self.frames),
            ("free before, KiB", before),
            ("free with all, KiB", alive),
            ("free afterwards, KiB", after),
        ] {
            rows.push(vec![name.into(), value.to_string()]);
        }
        table(1, header, rows)
    }
}
