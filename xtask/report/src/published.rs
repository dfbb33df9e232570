// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables of what others published.

use anyhow::Result;

use crate::document::{Block, Table};
use donjon_figures::format::{number, percent};
use donjon_figures::parts::Part;

pub use donjon_figures::published::{Published, all, compartments};

/// Shows published figures in the section of a part, as a table.
///
/// # Errors
///
/// Those of [`all`].
pub fn of_section(part: Part, caption: &str) -> Result<Block> {
    let all = all()?;
    let these = all.iter().filter(|it| it.section == part.name());
    Ok(Block::Table(table(caption, these)))
}

/// Shows published figures without a row of ours and without a section, as a table that a reader
/// opens.
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
