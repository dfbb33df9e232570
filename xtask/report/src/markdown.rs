// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report as Markdown: its tables, without charts and without what a reader has to open.

use crate::document::{Block, Document, Table};

/// The file.
pub fn page(document: &Document) -> String {
    let mut text = format!(
        "<!-- SPDX-License-Identifier: MIT OR Apache-2.0 -->\n# {}\n\n{}\n",
        escape(&document.title),
        escape(&document.summary)
    );
    if !document.headline.is_empty() {
        text.push('\n');
    }
    for line in &document.headline {
        text += &format!("* **{}** {}\n", escape(&line.value), escape(&line.what));
    }
    for section in &document.sections {
        text += &format!("\n## {}\n", escape(&section.title));
        for block in &section.blocks {
            text += &self::block(block);
        }
    }
    text
}

fn block(block: &Block) -> String {
    match block {
        Block::Heading(text) => format!("\n### {}\n", escape(text)),
        Block::Text(text) => format!("\n{}\n", escape(text)),
        Block::Note(text) => format!("\n> {}\n", escape(text)),
        Block::List(items) => {
            let items = items.iter().map(|it| format!("* {}\n", escape(it)));
            format!("\n{}", items.collect::<String>())
        }
        Block::Table(table) => self::table(table),
        Block::Figure(_) => String::new(),
        Block::Details(summary, _) => format!("\n{}: see report.html.\n", escape(summary)),
    }
}

fn table(table: &Table) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells
            .iter()
            .map(|it| escape(it).replace('|', "\\|"))
            .collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = (0..table.header.len()).map(|it| if it < table.words { "---|" } else { "---:|" });
    let rows: String = table.rows.iter().map(|it| line(it)).collect();
    format!(
        "\n{}:\n\n{}|{}\n{rows}",
        escape(&table.caption),
        line(&table.header),
        rule.collect::<String>()
    )
}

/// Text between backticks stays; elsewhere nothing becomes HTML or emphasis.
fn escape(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(number, part)| {
        if number % 2 == 1 {
            return format!("`{part}`");
        }
        let mut escaped = String::new();
        let mut letters = part.chars().peekable();
        let mut is_in_word = false;
        while let Some(letter) = letters.next() {
            let is_inside = is_in_word && letters.peek().is_some_and(|it| it.is_alphanumeric());
            match letter {
                '<' => escaped += "&lt;",
                '&' => escaped += "&amp;",
                // Within a word it means nothing.
                '_' if is_inside => escaped.push(letter),
                '*' | '_' | '[' | ']' | '\\' => escaped.extend(['\\', letter]),
                '\n' => escaped.push(' '),
                _ => escaped.push(letter),
            }
            is_in_word = letter.is_alphanumeric();
        }
        escaped
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Headline, Section};

    #[test]
    fn tables_and_text_are_escaped() {
        let mut section = Section::new("s", "S");
        let mut table = Table::new("Caption", &["name", "`a`"]);
        table.row(vec!["x|y <z>".into(), "1".into()]);
        section.add(Block::Table(table));
        section.add(Block::Details("The list".into(), Vec::new()));
        let document = Document {
            title: "T".into(),
            summary: "a_b _c_ `c_d`".into(),
            headline: vec![Headline {
                value: "59".into(),
                what: "w".into(),
            }],
            sections: vec![section],
        };
        let text = page(&document);
        assert!(text.contains("a_b \\_c\\_ `c_d`"), "{text}");
        assert!(
            text.contains("| name | `a` |\n|---|---:|\n| x\\|y &lt;z> | 1 |\n"),
            "{text}"
        );
        assert!(text.contains("The list: see report.html."), "{text}");
        assert!(text.contains("* **59** w"), "{text}");
    }
}
