// SPDX-License-Identifier: MIT OR Apache-2.0
//! What others published, from `published.csv`, which names its sources.

use anyhow::{Context, Result, ensure};

const TEXT: &str = include_str!("published.csv");
const HEADER: &str = "row,hilps_big_asid,hilps_little_asid,hilps_big_ti,hilps_little_ti,bulkhead";

/// Headers of the columns that [`Published::cells`] fills.
pub const COLUMNS: [&str; 3] = ["Hilps asid", "Hilps ti", "BULKHEAD"];
/// What they mean.
pub const LEGEND: &str = "Hilps: published percent on its big / little core (NDSS 2017, Tables III \
    and IV, times). BULKHEAD: published percent, x86 (NDSS 2025, times).";

/// Percentages by row.
pub struct Published(Vec<(&'static str, [Option<f64>; 5])>);

/// The file's contents.
pub fn read() -> Result<Published> {
    let mut lines = TEXT.lines().filter(|it| !it.starts_with('#'));
    ensure!(lines.next() == Some(HEADER), "the header of published.csv");
    let row = |line: &'static str| {
        let (name, figures) = line.split_once(',')?;
        let mut values = [None; 5];
        let mut cells = figures.split(',');
        for value in &mut values {
            *value = match cells.next()? {
                "" => None,
                cell => Some(cell.parse().ok()?),
            };
        }
        cells.next().is_none().then_some((name, values))
    };
    let rows = lines.map(|it| row(it).with_context(|| format!("published.csv: {it}")));
    Ok(Published(rows.collect::<Result<_>>()?))
}

impl Published {
    /// One cell for each of [`COLUMNS`].
    pub fn cells(&self, row: &str) -> [String; 3] {
        let found = self.0.iter().find(|it| it.0 == row);
        let Some((_, [big_asid, little_asid, big_ti, little_ti, bulkhead])) = found else {
            return Default::default();
        };
        let both = |big: &Option<f64>, little: &Option<f64>| match (big, little) {
            (Some(big), Some(little)) => format!("{big:.1} / {little:.1}"),
            _ => String::new(),
        };
        let one = bulkhead.map(|it| format!("{it:.1}")).unwrap_or_default();
        [both(big_asid, little_asid), both(big_ti, little_ti), one]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lmbench::rows::ROWS;

    #[test]
    fn every_published_row_is_one_of_ours() {
        let published = read().expect("the file");
        for (name, _) in &published.0 {
            assert!(ROWS.iter().any(|it| it.name == *name), "{name}");
        }
        assert_eq!(
            published.cells("page fault"),
            ["26.6 / 32.7", "98.9 / 95.0", "39.7"]
        );
        assert_eq!(published.cells("read"), ["", "", ""]);
    }
}
