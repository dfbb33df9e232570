// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report as a tree of paragraphs, tables and charts, before it becomes HTML or Markdown.
//!
//! Text is plain; words between backticks are code.

use crate::plot::Chart;

/// The whole report.
#[derive(Debug)]
pub struct Document {
    /// Title of the report.
    pub title: String,
    /// One paragraph.
    pub summary: String,
    /// A few numbers, each with what it is.
    pub headline: Vec<Headline>,
    /// The rest.
    pub sections: Vec<Section>,
}

/// A number of the headline.
#[derive(Debug, PartialEq, Eq)]
pub struct Headline {
    /// The number.
    pub value: String,
    /// What it is.
    pub what: String,
}

/// A section with a heading.
#[derive(Debug)]
pub struct Section {
    /// Where links lead to.
    pub id: &'static str,
    /// The heading.
    pub title: String,
    /// What is in it.
    pub blocks: Vec<Block>,
}

impl Section {
    /// An empty section.
    pub fn new(id: &'static str, title: &str) -> Self {
        Self {
            id,
            title: title.to_owned(),
            blocks: Vec::new(),
        }
    }

    /// Adds a paragraph.
    pub fn text(&mut self, text: impl Into<String>) -> &mut Self {
        self.add(Block::Text(text.into()))
    }

    /// Adds something that must not be overlooked.
    pub fn note(&mut self, text: impl Into<String>) -> &mut Self {
        self.add(Block::Note(text.into()))
    }

    /// Adds a heading.
    pub fn heading(&mut self, text: impl Into<String>) -> &mut Self {
        self.add(Block::Heading(text.into()))
    }

    /// Adds a block.
    pub fn add(&mut self, block: Block) -> &mut Self {
        self.blocks.push(block);
        self
    }
}

/// A block of a section.
#[derive(Debug)]
pub enum Block {
    /// A heading within a section.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// One that must not be overlooked.
    Note(String),
    /// A list.
    List(Vec<String>),
    /// A table.
    Table(Table),
    /// A chart.
    Figure(Figure),
    /// Blocks that a reader opens.
    Details(String, Vec<Block>),
}

/// A table with a caption.
#[derive(Debug, Default)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// Heads of columns.
    pub header: Vec<String>,
    /// Number of columns from the left that are words; the others are numbers.
    pub words: usize,
    /// Rows.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// Without rows; the first column has words, the others numbers.
    pub fn new(caption: &str, header: &[&str]) -> Self {
        Self {
            caption: caption.to_owned(),
            header: header.iter().map(|it| (*it).to_owned()).collect(),
            words: 1,
            rows: Vec::new(),
        }
    }

    /// A table without rows whose columns are all words.
    pub fn of_words(caption: &str, header: &[&str]) -> Self {
        Self {
            words: header.len(),
            ..Self::new(caption, header)
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Takes out the column with this head if several rows have the same there; that value.
    pub fn take_alike(&mut self, head: &str) -> Option<String> {
        let column = self.header.iter().position(|it| it == head)?;
        let values = || self.rows.iter().map(|it| it.get(column));
        let value = values().next()??.clone();
        let alike = self.rows.len() > 1 && values().all(|it| it == Some(&value));
        if !alike {
            return None;
        }
        self.header.remove(column);
        self.words -= usize::from(column < self.words);
        for row in &mut self.rows {
            row.remove(column);
        }
        Some(value)
    }

    /// Leaves out columns of numbers in which no row has anything.
    #[must_use]
    pub fn without_empty_columns(mut self) -> Self {
        let used: Vec<bool> = (0..self.header.len())
            .map(|column| {
                let used = |row: &Vec<String>| row.get(column).is_some_and(|it| !it.is_empty());
                column < self.words || self.rows.iter().any(used)
            })
            .collect();
        let keep = |cells: &mut Vec<String>| {
            let mut column = used.iter();
            cells.retain(|_| *column.next().unwrap_or(&true));
        };
        keep(&mut self.header);
        self.rows.iter_mut().for_each(keep);
        self
    }
}

/// A chart with a caption.
#[derive(Debug)]
pub struct Figure {
    /// What it shows and how to read it.
    pub caption: String,
    /// Text for a reader who cannot see the chart: with the figures that matter.
    pub alternative: String,
    /// What is drawn.
    pub chart: Chart,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_columns_of_numbers_go() {
        let mut table = Table::new("c", &["name", "a", "b"]);
        table.row(vec!["x".into(), String::new(), "1".into()]);
        table.row(vec!["y".into(), String::new(), String::new()]);
        let table = table.without_empty_columns();
        assert_eq!(table.header, ["name", "b"]);
        assert_eq!(table.rows[0], ["x", "1"]);
    }
    #[test]
    fn a_column_is_taken_out_where_all_rows_agree() {
        let mut table = Table::of_words("c", &["part", "host", "mode"]);
        table.row(vec!["x".into(), "h".into(), "asid".into()]);
        assert_eq!(table.take_alike("host"), None, "one row is no agreement");
        table.row(vec!["y".into(), "h".into(), "tlbi".into()]);
        assert_eq!(table.take_alike("mode"), None);
        assert_eq!(table.take_alike("size"), None);
        assert_eq!(table.take_alike("host").as_deref(), Some("h"));
        assert_eq!((table.header.len(), table.words), (2, 2));
        assert_eq!(table.rows[1], ["y", "tlbi"]);
    }
}
