// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Markdown that templates give: brought into one form, and as a page without its charts.

use pulldown_cmark::{Event, Parser};

use crate::chapters::Report;

/// A chapter of the report, in one form.
#[derive(Debug, Default)]
pub struct Chapter {
    /// Where links lead to.
    pub id: &'static str,
    /// The heading.
    pub title: String,
    /// What is below the heading, charts and foldable blocks among it.
    pub text: String,
    /// Numbers for the head of the page, each in bold with what it is behind it.
    pub headline: Vec<String>,
}

/// Marks a line of a template whose number goes to the head of the page.
const HEADLINE: &str = "headline: ";
/// Begins and ends what a reader has to open.
const FOLD: &str = "~~~";
/// Begins and ends a chart.
const CHART: &str = "```";

impl Chapter {
    /// Brings the output of a template into one form: a paragraph is a line; columns of numbers in
    /// which no row has anything are left out, and tables without rows.
    pub fn new(id: &'static str, text: &str) -> Self {
        let mut chapter = Self {
            id,
            ..Self::default()
        };
        let lines = whole_lines(text);
        let mut rest = lines.iter().peekable();
        let mut kept: Vec<String> = Vec::new();
        while let Some(line) = rest.next() {
            if let Some(title) = line.strip_prefix("# ").or(line.strip_prefix("## ")) {
                title.clone_into(&mut chapter.title);
            } else if let Some(number) = line.strip_prefix(HEADLINE) {
                chapter.headline.push(number.to_owned());
            } else if line.starts_with(CHART) {
                kept.push(line.clone());
                kept.extend(rest.by_ref().take_while(|it| *it != CHART).cloned());
                kept.push(CHART.to_owned());
            } else if line.starts_with('|') {
                let mut table = vec![cells(line)];
                while let Some(row) = rest.next_if(|it| it.starts_with('|')) {
                    table.push(cells(row));
                }
                if table.len() > 2 {
                    kept.extend(without_empty_columns(table));
                } else {
                    // With its caption.
                    kept.truncate(kept.len().saturating_sub(2));
                }
            } else if !line.is_empty() || kept.last().is_some_and(|it| !it.is_empty()) {
                kept.push(line.clone());
            }
        }
        chapter.text = kept.join("\n").trim().to_owned();
        chapter
    }
}

/// Lines of which none is the middle of a paragraph, and no comments.
fn whole_lines(text: &str) -> Vec<String> {
    const STARTS: [&str; 7] = ["|", "* ", "#", "> ", CHART, FOLD, HEADLINE];
    let mut lines: Vec<String> = Vec::new();
    let mut is_chart = false;
    for raw in text.lines() {
        let line = raw.trim();
        let is_end = is_chart && line == CHART;
        let starts = match is_chart {
            true => !raw.starts_with("  "),
            false => STARTS.iter().any(|it| line.starts_with(it)),
        } || line.is_empty();
        is_chart = !is_end && (is_chart || line.starts_with(CHART));
        match lines.last_mut() {
            _ if line.starts_with("<!--") => {}
            Some(last) if !starts && !last.is_empty() && !last.starts_with(FOLD) => {
                *last += " ";
                *last += line;
            }
            _ => lines.push(line.to_owned()),
        }
    }
    lines
}

/// Splits a row of a table, or of a chart.
pub fn cells(row: &str) -> Vec<String> {
    let row = row.strip_prefix('|').unwrap_or(row);
    let row = row.strip_suffix('|').unwrap_or(row);
    let mut cells = vec![String::new()];
    let mut before = ' ';
    for letter in row.chars() {
        match cells.last_mut() {
            Some(cell) if letter != '|' || before == '\\' => cell.push(letter),
            _ => cells.push(String::new()),
        }
        before = letter;
    }
    cells.iter().map(|it| it.trim().to_owned()).collect()
}

fn without_empty_columns(table: Vec<Vec<String>>) -> Vec<String> {
    let of = |row: &[String], column: usize| row.get(column).is_some_and(|it| !it.is_empty());
    let is_used = |column: &usize| {
        let is_word = table[1].get(*column).is_some_and(|it| !it.ends_with(':'));
        is_word || table[2..].iter().any(|row| of(row, *column))
    };
    let columns: Vec<usize> = (0..table[0].len()).filter(is_used).collect();
    let mut rows = table.iter().map(|row| {
        let cells = columns.iter().map(|it| row.get(*it).map_or("", |it| it));
        format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
    });
    rows.next()
        .into_iter()
        .chain(rows.next().map(|it| it.replace(' ', "")))
        .chain(rows)
        .collect()
}

/// Writes the report as Markdown: its tables, without charts and without what a reader has to open.
pub fn page(report: &Report) -> String {
    let Report { head, chapters } = report;
    let mut page = format!(
        "<!-- SPDX-License-Identifier: MIT OR Apache-2.0 -->\n# {}\n\n{}\n",
        head.title, head.text
    );
    for (place, number) in chapters.iter().flat_map(|it| &it.headline).enumerate() {
        page += if place == 0 { "\n* " } else { "* " };
        page += &format!("{number}\n");
    }
    for chapter in chapters {
        page += &format!("\n## {}\n\n{}\n", chapter.title, visible(&chapter.text));
    }
    page
}

/// What is left without charts and without what a reader has to open.
fn visible(text: &str) -> String {
    let mut kept: Vec<String> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with(CHART) {
            lines.by_ref().find(|it| *it == CHART);
        } else if line.starts_with(FOLD) {
            let summary = lines.next().unwrap_or_default();
            kept.push(format!("{summary}: see report.html."));
            lines.by_ref().find(|it| *it == FOLD);
        } else if !line.is_empty() || kept.last().is_some_and(|it| !it.is_empty()) {
            kept.push(line.to_owned());
        }
    }
    kept.join("\n").trim().to_owned()
}

/// Escapes a text: what is between backticks stays code, and the rest is text wherever it stands.
pub fn escape(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    let mut escaped = String::new();
    for (number, part) in text.split('`').enumerate() {
        if number % 2 == 0 {
            escape_words(part, &mut escaped);
        } else if !part.is_empty() {
            // A backslash before a bar would be read as part of the bar.
            let part = part.replace("\\|", "\\ |").replace('|', "\\|");
            escaped += &format!("`{part}`");
        }
    }
    let start = escaped.trim_start();
    let rest = start.trim_start_matches(|it: char| it.is_ascii_digit());
    let marks: &[&str] = if rest.len() < start.len() {
        &[". ", ") "]
    } else {
        &["#", ">", "~", "=", "- ", "+ "]
    };
    if marks.iter().any(|it| rest.starts_with(it)) {
        escaped.insert(escaped.len() - rest.len(), '\\');
    }
    escaped
}

fn escape_words(part: &str, escaped: &mut String) {
    let mut letters = part.chars().peekable();
    let mut is_in_word = false;
    while let Some(letter) = letters.next() {
        let is_inside = is_in_word && letters.peek().is_some_and(|it| it.is_alphanumeric());
        match letter {
            '<' => *escaped += "&lt;",
            '&' => *escaped += "&amp;",
            // Within a word it means nothing.
            '_' if is_inside => escaped.push(letter),
            '*' | '_' | '[' | ']' | '\\' | '|' => escaped.extend(['\\', letter]),
            _ => escaped.push(letter),
        }
        is_in_word = letter.is_alphanumeric();
    }
}

/// Takes the marks out of a line, so that its words are left.
pub fn plain(line: &str) -> String {
    // A word before it, so that nothing begins a block.
    let line = format!("a {line}");
    let words = Parser::new(&line).filter_map(|it| match it {
        Event::Text(text) => Some(text.into_string()),
        Event::Code(code) => Some(code.replace("\\|", "|")),
        _ => None,
    });
    let words: String = words.collect();
    words.get(2..).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_escaped_and_read_again() {
        assert_eq!(escape("a_b _c_ `c_d`"), "a_b \\_c\\_ `c_d`");
        assert_eq!(escape("x|y <z>"), "x\\|y &lt;z>");
        for text in [
            "x|y <z> & *a* [b](c) \\",
            "# a",
            "1. a",
            "- a",
            "-",
            "~~~",
            "a `b|c` d",
        ] {
            assert_eq!(plain(&escape(text)), text.replace('`', ""));
            assert_eq!(
                cells(&format!("| {} | b |", escape(text))).len(),
                2,
                "{text}"
            );
        }
        assert_eq!(escape("a\n```\n# b ` c"), "a ` # b ` c");
    }

    #[test]
    fn empty_columns_of_numbers_go_and_tables_without_rows() {
        let table = "c:\n\n| name | word | a | b |\n|---|---|---:|---:|\n";
        let chapter = Chapter::new(
            "id",
            &format!("## T\n\n{table}| x |  | | 1 |\n| y | | | |\n"),
        );
        assert_eq!(chapter.title, "T");
        let rows = "| name | word | b |\n|---|---|---:|\n| x |  | 1 |\n| y |  |  |";
        assert_eq!(chapter.text, format!("c:\n\n{rows}"));
        assert_eq!(
            Chapter::new("id", &format!("a\n\n{table}\nb\n")).text,
            "a\n\nb"
        );
    }

    #[test]
    fn charts_and_what_a_reader_opens_are_left_out_of_the_page() {
        let text = "<!-- c -->\n## T\nheadline: **1** a\n  b\n\nx\ny\n\n```bars\nu: v\n  w\n\n| 1\na | 1\n```\n\n\
                    ~~~fold\nThe list\n\nc:\n\n| a |\n|---|\n| 1 |\n~~~\n\nz\n";
        let chapter = Chapter::new("id", text);
        let page = page(&Report {
            head: Chapter::default(),
            chapters: vec![chapter],
        });
        assert!(
            page.ends_with("* **1** a b\n\n## T\n\nx y\n\nThe list: see report.html.\n\nz\n"),
            "{page}"
        );
    }
}
