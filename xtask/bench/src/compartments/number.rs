// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many compartments at once.

use anyhow::{Context, Result};
use comfy_table::Table;
use serde::Serialize;

use super::goal::Goal;
use super::lines;
use super::table;

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

/// What was measured.
#[derive(Debug, Serialize)]
pub struct Number {
    /// How many were alive at once.
    pub count: u64,
    /// Private frames of one.
    pub frames: u64,
    /// Cost of the first, the last, the median of the first hundred and of the last.
    pub made: Costs,
    /// Cost of the end: of the first, the last, the median of the first hundred and of the last.
    pub ended: Costs,
    /// Cost of the end of the last one and of giving memory back to Linux.
    pub back: u64,
    /// Linux's free memory in KiB before, with all of them and afterwards.
    pub free_kib: [u64; 3],
    /// How many there were, KiB of RAM that were not free, and instructions since the first.
    pub rows: Vec<[u64; 3]>,
}

/// Costs of a series.
#[derive(Debug, Serialize)]
pub struct Costs {
    /// Cost of the first compartment.
    pub first: u64,
    /// Cost of the last compartment.
    pub last: u64,
    /// The median of the first ones.
    pub first_median: f64,
    /// The median of the last ones.
    pub last_median: f64,
    /// The highest.
    pub most: u64,
    /// The mean of all.
    pub mean: f64,
}

/// What the guest runs.
pub fn command(quick: bool) -> String {
    let count = if quick { COUNT.0 } else { COUNT.1 };
    format!("donjon-compare number {count}")
}

impl Costs {
    fn of(text: &str, name: &str) -> Result<Self> {
        let all = lines::all(text, name)?.concat();
        let some = SOME.min(all.len());
        Ok(Self {
            first: *all.first().context("no compartment")?,
            last: *all.last().context("no compartment")?,
            first_median: lines::median(all[..some].iter().copied()),
            last_median: lines::median(all[all.len() - some..].iter().copied()),
            most: all.iter().copied().max().unwrap_or(0),
            mean: all.iter().sum::<u64>() as f64 / all.len() as f64,
        })
    }

    fn row(&self, name: &str) -> Vec<String> {
        let mut row = vec![name.into(), self.first.to_string(), self.last.to_string()];
        row.extend([self.first_median, self.last_median, self.mean].map(|it| format!("{it:.0}")));
        row.push(self.most.to_string());
        row
    }
}

impl Number {
    /// Reads what the guest printed.
    pub fn of(text: &str) -> Result<Self> {
        let rows = lines::rows(text, "row")?;
        let [frames] = lines::one(text, "frames")?;
        let [back] = lines::one(text, "back")?;
        Ok(Self {
            count: rows.last().map_or(0, |it| it[0]),
            frames,
            made: Costs::of(text, "made")?,
            ended: Costs::of(text, "ended")?,
            back,
            free_kib: lines::one(text, "free")?,
            rows,
        })
    }

    /// KiB of RAM for one: of its own, and what Linux and the inner domain have for it.
    fn kib_each(&self) -> f64 {
        let [before, alive, _] = self.free_kib;
        before.saturating_sub(alive) as f64 / self.count as f64
    }

    /// What should be so.
    pub fn goals(&self) -> Vec<Goal> {
        let [before, alive, after] = self.free_kib.map(|it| it as f64);
        let count = self.count;
        let Costs { first, last, .. } = self.made;
        let medians = (self.made.last_median, self.made.first_median);
        vec![
            Goal::ratio(
                format!("making number {count} to making the first"),
                last as f64,
                first as f64,
                GROWTH_MAX,
            ),
            Goal::ratio(
                "the same, medians of 100 at each end",
                medians.0,
                medians.1,
                GROWTH_MAX,
            ),
            Goal::at_most(
                "KiB of private frames of one",
                (self.frames * FRAME_KIB) as f64,
                KIB_MAX,
            ),
            Goal::at_most("KiB of free memory for one", self.kib_each(), KIB_MAX),
            Goal::ratio(
                "part of that memory which is not free again",
                (before - after).max(0.0),
                before - alive,
                KEPT_MAX,
            ),
        ]
    }

    /// Lays the figures out as a table.
    pub fn table(&self) -> Table {
        let header = [
            "of all",
            "first",
            "last",
            "median of the first 100",
            "of the last 100",
            "mean",
            "most",
        ];
        let [before, alive, after] = self.free_kib;
        let mut rows = vec![self.made.row("made"), self.ended.row("ended")];
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
        table(&header, rows)
    }
}
