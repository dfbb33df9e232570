// SPDX-License-Identifier: MIT OR Apache-2.0
//! Blocks of memory.

use anyhow::{Context, Result, ensure};
use comfy_table::Table;
use serde::Serialize;

use super::goal::Goal;
use super::lines;
use super::table;

/// MB of the blocks: the first one, of which the others are multiples, and how many there are.
const QUICK: (u64, u64) = (10, 5);
const FULL: (u64, u64) = (10, 100);
/// The table has so many of them.
const ROWS: usize = 10;
const PAGES_OF_MB: u64 = 256;
/// What writing and reading may take inside, for one that they take outside; and growing.
const ACCESS_MAX: f64 = 1.02;
const GROW_MAX: f64 = 1.0;

/// All sizes.
#[derive(Debug, Serialize)]
pub struct Sizes {
    /// Inside and outside.
    pub sizes: Vec<Size>,
}

/// A size.
#[derive(Debug, Serialize)]
pub struct Size {
    /// MB of 1,048,576 bytes.
    pub megabytes: u64,
    /// In a compartment.
    pub inside: Costs,
    /// In a process.
    pub outside: Costs,
    /// Taking the memory from Linux before the compartment grows.
    pub reserve: u64,
    /// Ending the compartment, whose memory goes back to Linux.
    pub end: u64,
}

/// Instructions.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Costs {
    /// Having the memory and touching each page.
    pub grow: u64,
    /// Writing each word.
    pub write: u64,
    /// Reading each word.
    pub read: u64,
    /// Giving it back.
    pub release: u64,
}

/// What the guest runs.
pub fn command(quick: bool) -> String {
    let (first, count) = if quick { QUICK } else { FULL };
    let words: Vec<String> = (1..=count).map(|it| (it * first).to_string()).collect();
    format!("donjon-compare memory {}", words.join(" "))
}

impl Sizes {
    /// Of what the guest printed.
    pub fn of(text: &str) -> Result<Self> {
        let outside = lines::rows::<5>(text, "outside")?;
        let inside = lines::rows::<7>(text, "inside")?;
        ensure!(outside.len() == inside.len(), "a size is missing");
        let costs = |it: &[u64]| Costs {
            grow: it[1],
            write: it[2],
            read: it[3],
            release: it[4],
        };
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
    pub fn goals(&self) -> Vec<Goal> {
        let worst = |name: &str, most: f64, ratio: &dyn Fn(&Size) -> (u64, u64)| {
            let ratios = self.sizes.iter().map(|it| {
                let (inside, outside) = ratio(it);
                inside as f64 / outside as f64
            });
            Goal::at_most(name, ratios.fold(f64::NAN, f64::max), most)
        };
        vec![
            worst("writing inside to outside", ACCESS_MAX, &|it| {
                (it.inside.write, it.outside.write)
            }),
            worst("reading inside to outside", ACCESS_MAX, &|it| {
                (it.inside.read, it.outside.read)
            }),
            worst(
                "growing by memory that was reserved, inside to outside",
                GROW_MAX,
                &|it| (it.inside.grow, it.outside.grow),
            ),
            worst(
                "reserving and growing, inside to outside",
                GROW_MAX,
                &|it| (it.inside.grow + it.reserve, it.outside.grow),
            ),
        ]
    }

    /// As a table.
    pub fn table(&self) -> Table {
        let header = [
            "MB", "reserve", "grow", "outside", "write", "outside", "read", "outside", "release",
            "outside", "end",
        ];
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
            row.extend(figures.map(|it| format!("{:.1}", it as f64 / pages)));
            row
        });
        table(&header, rows)
    }
}
