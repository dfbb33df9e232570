// SPDX-License-Identifier: MIT OR Apache-2.0
//! The first sentence of a file, which says what the file is for.

use anyhow::{Context, Result};

/// What precedes a full stop that ends no sentence.
const SHORT: [&str; 3] = ["e.g.", "i.e.", "cf."];

/// The first sentence of a module's own documentation, the lines with `//!`.
///
/// # Errors
///
/// If there is none.
pub fn of_rust(text: &str) -> Result<String> {
    let lines = text
        .lines()
        .map_while(|line| match line.strip_prefix("//!") {
            None if line.starts_with("//") => Some(""),
            None => None,
            Some(line) => Some(line.trim()),
        });
    let sentence = first(lines.skip_while(|it| it.is_empty()));
    let sentence =
        sentence.context("no first sentence: begin the file with `//! What it is for.`")?;
    Ok(without_links(&sentence))
}

/// The first sentence of the first comment of a C or assembly file that is not its licence.
///
/// # Errors
///
/// If there is none.
pub fn of_c(text: &str) -> Result<String> {
    let what = "no first sentence: begin the file with `/* What it is for. */`";
    let start = text.find("/*").context(what)?;
    let comment = &text[start + 2..];
    let comment = &comment[..comment.find("*/").context("a comment without end")?];
    if comment.contains("SPDX-License-Identifier") {
        return of_c(&text[start + 2 + comment.len()..]);
    }
    let lines = comment
        .lines()
        .map(|it| it.trim().trim_start_matches('*').trim());
    first(lines.skip_while(|it| it.is_empty())).context(what)
}

/// The first sentence of a paragraph, which ends at an empty line.
fn first<'a>(lines: impl Iterator<Item = &'a str>) -> Option<String> {
    let paragraph: Vec<_> = lines.take_while(|it| !it.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    let words: Vec<_> = paragraph.split_whitespace().collect();
    let ends = |it: &&str| it.ends_with(['.', '?']) && !SHORT.contains(it);
    let last = words.iter().position(ends)?;
    Some(words[..=last].join(" "))
}

/// The text with the names of intra-doc links in place of the links.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once("[`") {
        let Some((name, after)) = link.split_once("`]") else {
            break;
        };
        plain.push_str(&format!("{before}`{name}`"));
        rest = match after.strip_prefix('(').and_then(|it| it.split_once(')')) {
            Some((_, after)) => after,
            None => after,
        };
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_of_rust_ends_at_its_full_stop() {
        let text = "// SPDX\n//! Reads a `file.rs`, and [`Page`](page::Page)\n//! too. More.\n//!\n//! A.\n";
        assert_eq!(
            of_rust(text).expect("a sentence"),
            "Reads a `file.rs`, and `Page` too."
        );
    }

    #[test]
    fn a_sentence_of_c_is_behind_the_licence() {
        for text in [
            "// SPDX-License-Identifier: GPL-2.0-only\n/*\n * Finds it\n * and calls it. More.\n */\n",
            "/* SPDX-License-Identifier: GPL-2.0-only */\n/* Finds it and calls it. */\n",
        ] {
            assert_eq!(of_c(text).expect("a sentence"), "Finds it and calls it.");
        }
    }

    #[test]
    fn a_file_without_a_sentence_is_refused() {
        let error = of_rust("// SPDX\nuse it;\n").expect_err("nothing");
        assert!(error.to_string().contains("//!"), "{error}");
        let error = of_c("// SPDX\n/* no full stop */\n").expect_err("nothing");
        assert!(error.to_string().contains("/*"), "{error}");
    }
}
