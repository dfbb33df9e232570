// SPDX-License-Identifier: MIT OR Apache-2.0
//! What others published: `figures.csv`, which names its sources.

pub mod compartments;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::document::{Block, Table};
use donjon_figures::format::{added, number, percent};
use donjon_figures::parts::Part;

const TEXT: &str = include_str!("figures.csv");

/// A figure of others.
#[derive(Debug, Deserialize)]
pub struct Published {
    /// System that the figure is of.
    pub system: String,
    /// Where it stands.
    pub source: String,
    /// The platform that it was measured on.
    pub platform: String,
    /// What was measured.
    pub test: String,
    /// The row of ours that measures the same; may be empty.
    pub row: String,
    /// Which form of the system; may be empty.
    pub variant: String,
    /// Unit of the two figures behind it.
    pub unit: String,
    /// The figure without the protection.
    pub base: Option<f64>,
    /// The figure with the protection.
    pub value: Option<f64>,
    /// What it adds, if that is what was published.
    percent: Option<f64>,
    /// The section that shows it, if it has no row; empty for that of LMBench.
    section: String,
}

impl Published {
    /// What it adds, in percent.
    pub fn added(&self) -> Option<f64> {
        self.percent.or_else(|| added(self.base?, self.value?))
    }

    /// Whether it is of that system, platform and variant.
    pub fn is(&self, system: &str, platform: &str, variant: &str) -> bool {
        (self.system.as_str(), self.variant.as_str()) == (system, variant)
            && self.platform.contains(platform)
    }
}

/// All figures.
///
/// # Errors
///
/// If the file is not a table of them.
pub fn all() -> Result<Vec<Published>> {
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .from_reader(TEXT.as_bytes());
    let rows = reader.deserialize().collect::<Result<_, _>>();
    rows.context("figures.csv")
}

/// Published figures that the section of a part shows, as a table.
///
/// # Errors
///
/// Those of [`all`].
pub fn of_section(part: Part, caption: &str) -> Result<Block> {
    let all = all()?;
    let these = all.iter().filter(|it| it.section == part.name());
    Ok(Block::Table(table(caption, these)))
}

/// Published figures without a row of ours and without a section, as a table that a reader opens.
pub fn others(all: &[Published]) -> Block {
    let these = all
        .iter()
        .filter(|it| it.row.is_empty() && it.section.is_empty());
    let caption = "Published figures without a counterpart in LMBench's rows";
    let table = table(caption, these);
    Block::Details(
        format!("{} other published figures", table.rows.len()),
        vec![
            Block::Text("Cycles are those of the machine named.".into()),
            Block::Table(table),
        ],
    )
}

fn table<'a>(caption: &str, figures: impl Iterator<Item = &'a Published>) -> Table {
    let header = [
        "system",
        "where it stands",
        "measured on",
        "test",
        "variant",
        "unit",
        "without",
        "with",
        "change",
    ];
    let mut table = Table::new(caption, &header);
    table.words = 6;
    for it in figures {
        let figure = |value: Option<f64>| {
            let places = |it: f64| usize::from(it.fract() != 0.0);
            value.map_or(String::new(), |it| number(it, places(it)))
        };
        let words = [
            &it.system,
            &it.source,
            &it.platform,
            &it.test,
            &it.variant,
            &it.unit,
        ];
        let mut cells: Vec<String> = words.into_iter().cloned().collect();
        cells.extend([figure(it.base), figure(it.value)]);
        cells.push(it.added().map_or(String::new(), percent));
        table.row(cells);
    }
    table.without_empty_columns()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The percentages that `bench lmbench` prints.
    const OTHER: &str = include_str!("../../../bench/src/lmbench/published.csv");

    #[test]
    fn both_tables_of_published_figures_say_the_same() {
        let all = all().expect("the file");
        let mut lines = OTHER.lines().filter(|it| !it.starts_with('#'));
        let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
        let columns = [
            ("hilps_big_asid", "Hilps", "Cortex-A57", "asid"),
            ("hilps_little_asid", "Hilps", "Cortex-A53", "asid"),
            ("hilps_big_ti", "Hilps", "Cortex-A57", "ti"),
            ("hilps_little_ti", "Hilps", "Cortex-A53", "ti"),
            ("bulkhead", "BULKHEAD", "x86", ""),
        ];
        let mut compared = 0;
        for line in lines {
            let cells: Vec<&str> = line.split(',').collect();
            for (name, system, platform, variant) in columns {
                let column = header.iter().position(|it| *it == name).expect("a column");
                let Ok(theirs) = cells[column].parse::<f64>() else {
                    continue;
                };
                let ours = all
                    .iter()
                    .find(|it| it.row == cells[0] && it.is(system, platform, variant));
                let ours = ours.and_then(Published::added).expect("a figure");
                assert!((ours - theirs).abs() < 0.06, "{line}: {ours}");
                compared += 1;
            }
        }
        assert_eq!(compared, 40);
    }

    #[test]
    fn each_figure_has_a_source_and_a_value() {
        for it in all().expect("the file") {
            assert!(!it.source.is_empty() && !it.platform.is_empty(), "{it:?}");
            assert!(it.value.is_some() || it.added().is_some(), "{it:?}");
            let sections = ["", Part::Programs.name(), Part::Scale.name()];
            assert!(sections.contains(&it.section.as_str()), "{it:?}");
            assert!(it.row.is_empty() || it.section.is_empty(), "{it:?}");
        }
    }
}
