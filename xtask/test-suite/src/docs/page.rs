// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads what the checks need from a Markdown page: tables, headings and links.

use std::fs;

use anyhow::{Context, Result};
use donjon_machine::paths;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// A page.
#[derive(Debug, Default)]
pub struct Page {
    /// Tables of the page, in order.
    pub tables: Vec<Table>,
    /// The text of its headings.
    pub headings: Vec<String>,
    /// Targets of links and images.
    pub links: Vec<String>,
}

/// A table.
#[derive(Debug, Default)]
pub struct Table {
    /// The text of the column heads.
    pub head: Vec<String>,
    /// Rows of the table without the head.
    pub rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// The text of the cell.
    pub text: String,
    /// The parts of it that are set as code, in order.
    pub code: Vec<String>,
}

impl Page {
    /// Reads a page of the repository.
    pub fn open(path: &str) -> Result<Self> {
        let text =
            fs::read_to_string(paths::in_root(path)).with_context(|| format!("reading {path}"))?;
        Ok(Self::read(&text))
    }

    /// Reads Markdown.
    pub fn read(markdown: &str) -> Self {
        let mut page = Self::default();
        let mut cells = Vec::new();
        let mut cell = Cell::default();
        for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Table(_)) => page.tables.push(Table::default()),
                Event::Start(Tag::TableCell | Tag::Heading { .. }) => cell = Cell::default(),
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(dest_url.into_string());
                }
                Event::Text(text) => cell.text.push_str(&text),
                Event::Code(text) => {
                    cell.text.push_str(&text);
                    cell.code.push(text.into_string());
                }
                Event::End(TagEnd::Heading(_)) => page.headings.push(cell.text.clone()),
                Event::End(TagEnd::TableCell) => cells.push(cell.clone()),
                Event::End(TagEnd::TableHead) => {
                    if let Some(table) = page.tables.last_mut() {
                        table.head = cells.drain(..).map(|it| it.text).collect();
                    }
                }
                Event::End(TagEnd::TableRow) => {
                    if let Some(table) = page.tables.last_mut() {
                        table.rows.push(std::mem::take(&mut cells));
                    }
                }
                _ => {}
            }
        }
        page
    }

    /// The first table whose first column has this head.
    ///
    /// # Errors
    ///
    /// Without such a table.
    pub fn table(&self, first: &str) -> Result<&Table> {
        let mut tables = self.tables.iter();
        tables
            .find(|it| it.head.first().is_some_and(|head| head == first))
            .with_context(|| format!("no table whose first column is `{first}`"))
    }

    /// The anchors that a link can name, one for each heading.
    pub fn anchors(&self) -> impl Iterator<Item = String> {
        self.headings.iter().map(|it| anchor(it))
    }
}

impl Table {
    /// The number of the column with this head.
    ///
    /// # Errors
    ///
    /// Without such a column.
    pub fn column(&self, head: &str) -> Result<usize> {
        self.head
            .iter()
            .position(|it| it == head)
            .with_context(|| format!("no column `{head}`; there are {}", self.head.join(", ")))
    }
}

/// The anchor that common hosts of repositories make of a heading: lower case, hyphens for spaces,
/// no punctuation.
fn anchor(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|it| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase)
        .map(|it| if it == ' ' { '-' } else { it })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_headings_and_links_are_found() {
        let page = Page::read(
            "# One, `two`\n\n[text](a.md#b) ![picture](c.svg)\n\n| id | x |\n|---|---|\n\
             | I1 | see `a` and `b` |\n\n```\n[no](link)\n```\n",
        );
        assert_eq!(page.anchors().collect::<Vec<_>>(), ["one-two"]);
        assert_eq!(page.links, ["a.md#b", "c.svg"]);
        let table = page.table("id").expect("table");
        assert_eq!(table.column("x").expect("column"), 1);
        assert_eq!(table.rows[0][0].text, "I1");
        assert_eq!(table.rows[0][1].text, "see a and b");
        assert_eq!(table.rows[0][1].code, ["a", "b"]);
        assert!(page.table("other").is_err());
    }
}
