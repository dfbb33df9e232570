// SPDX-License-Identifier: MIT OR Apache-2.0
//! What others published of LMBench's rows, in percent over the system without their protection.

use anyhow::Result;
use donjon_figures::published::{self, Published};

/// Headers of the columns that [`Beside::cells`] fills.
pub const COLUMNS: [&str; 3] = ["Hilps asid", "Hilps ti", "BULKHEAD"];
/// What they mean.
pub const LEGEND: &str = "Hilps: published percent on its big / little core (NDSS 2017, Tables III \
    and IV, times). BULKHEAD: published percent, x86 (NDSS 2025, times).";

/// The columns of others, beside ours.
pub struct Beside(Vec<Published>);

/// Reads the columns of others.
pub fn read() -> Result<Beside> {
    published::all().map(Beside)
}

impl Beside {
    /// Fills one cell for each of [`COLUMNS`].
    pub fn cells(&self, row: &str) -> [String; 3] {
        let percent = |system: &str, platform: &str, variant: &str| {
            let is_it = |it: &&Published| it.row == row && it.is(system, platform, variant);
            let added = self.0.iter().find(is_it)?.added()?;
            Some(format!("{added:.1}"))
        };
        let both = |variant: &str| {
            let big = percent("Hilps", "Cortex-A57", variant)?;
            Some(format!(
                "{big} / {}",
                percent("Hilps", "Cortex-A53", variant)?
            ))
        };
        let bulkhead = percent("BULKHEAD", "x86", "");
        [both("asid"), both("ti"), bulkhead].map(Option::unwrap_or_default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lmbench::rows::ROWS;

    #[test]
    fn every_published_row_is_one_of_ours() {
        let published = read().expect("the file");
        for it in published.0.iter().filter(|it| !it.row.is_empty()) {
            assert!(ROWS.iter().any(|row| row.name == it.row), "{it:?}");
        }
        assert_eq!(
            published.cells("page fault"),
            ["26.6 / 32.7", "98.9 / 95.0", "39.7"]
        );
        assert_eq!(published.cells("null"), ["", "", "-0.3"]);
        assert_eq!(published.cells("read"), ["", "", ""]);
        let filled = ROWS
            .iter()
            .filter(|it| !published.cells(it.name)[0].is_empty());
        assert_eq!(filled.count(), 9);
    }
}
