// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables of words and numbers, as text.

use comfy_table::{CellAlignment, Row, Table, presets};

/// Columns behind the first `left` ones are numbers.
pub fn table(
    left: usize,
    header: impl Into<Row>,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(header);
    for row in rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(left) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
