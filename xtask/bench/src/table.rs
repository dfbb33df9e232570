// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables of words and numbers, as text and as files.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use comfy_table::{CellAlignment, Table, presets};

/// Lays rows out as a table, whose columns behind the first `left` ones are numbers.
pub fn table(
    left: usize,
    header: impl IntoIterator<Item = impl Into<String>>,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(header.into_iter().map(Into::<String>::into));
    for row in rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(left) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Rounds a figure, with so many places behind the point.
pub fn rounded(figure: f64, places: usize) -> String {
    format!("{figure:.places$}")
}

/// Writes what a figure is more than another one, in percent with two places.
pub fn more(figure: f64, base: f64) -> String {
    format!("{:+.2} %", percent(figure, base))
}

/// Computes what a figure is more than another one, in percent.
pub fn percent(figure: f64, base: f64) -> f64 {
    (figure / base - 1.0) * 100.0
}

/// Writes rows to the file `NAME.csv` of a folder, with commas between values.
pub fn write_csv(
    folder: &Path,
    name: &str,
    header: &str,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    let path = folder.join(format!("{name}.csv"));
    let mut text = format!("{header}\n");
    for row in rows {
        text.push_str(&row.join(","));
        text.push('\n');
    }
    fs::write(&path, text).with_context(|| format!("writing {}", path.display()))
}
