// SPDX-License-Identifier: MIT OR Apache-2.0
//! Comments of a source file in Rust, C or assembly, and the lines that strings touch.

use std::collections::BTreeSet;

/// A comment: a `/* */`, or lines that begin with the same `//`.
#[derive(Debug, PartialEq, Eq)]
pub struct Comment {
    /// Number of its first line that has text, from 1 on.
    pub line: usize,
    /// Whether rustdoc takes it.
    pub is_doc: bool,
    /// Text of its lines, without what marks it as a comment.
    pub lines: Vec<String>,
}

/// What is in a source file.
#[derive(Debug, Default)]
pub struct Source {
    /// Comments in their order.
    pub comments: Vec<Comment>,
    /// Numbers of lines with a part of a string literal.
    pub strings: BTreeSet<usize>,
}

impl Source {
    /// Reads a source file.
    pub fn read(text: &str) -> Self {
        let mut reader = Reader {
            rest: text,
            line: 1,
            last: None,
            source: Self::default(),
        };
        while reader.step().is_some() {}
        reader.source
    }
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
    /// Line and mark of a `//` comment, which goes on in the next line with the same mark.
    last: Option<(usize, &'a str)>,
    source: Source,
}

impl<'a> Reader<'a> {
    /// Takes a comment, a literal or one character. None at the end.
    fn step(&mut self) -> Option<()> {
        let rest = self.rest;
        if rest.starts_with("//") {
            let end = rest.find('\n').unwrap_or(rest.len());
            let text = self.take(end);
            self.line_comment(text);
        } else if rest.starts_with("/*") {
            let line = self.line;
            let end = rest.find("*/").map_or(rest.len(), |it| it + 2);
            let text = self.take(end);
            self.block_comment(line, text);
        } else if let Some(length) = string_length(rest) {
            let first = self.line;
            self.take(length);
            self.source.strings.extend(first..=self.line);
        } else if let Some(length) = character_length(rest) {
            self.take(length);
        } else {
            // A whole word, so that the `r` of an identifier is not taken for a raw string's.
            let word = rest.find(|it: char| !it.is_alphanumeric() && it != '_');
            let length = rest.chars().next()?.len_utf8();
            self.take(word.unwrap_or(rest.len()).max(length));
        }
        Some(())
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn line_comment(&mut self, text: &'a str) {
        let slashes = text.find(|it| it != '/').unwrap_or(text.len());
        let length = slashes + usize::from(text[slashes..].starts_with('!'));
        let (mark, said) = text.split_at(length);
        let goes_on = self.last == Some((self.line - 1, mark));
        self.last = Some((self.line, mark));
        match self.source.comments.last_mut() {
            Some(comment) if goes_on => comment.lines.push(said.trim().to_owned()),
            _ => self.source.comments.push(Comment {
                line: self.line,
                is_doc: matches!(mark, "///" | "//!"),
                lines: vec![said.trim().to_owned()],
            }),
        }
    }

    fn block_comment(&mut self, line: usize, text: &str) {
        let text = text.trim_end_matches('/').trim_end_matches('*');
        let lines = text.trim_start_matches(['/', '*']).lines();
        let lines: Vec<_> = lines
            .map(|it| it.trim_start_matches([' ', '\t', '*']).trim_end())
            .collect();
        let empty = lines.iter().take_while(|it| it.is_empty()).count();
        self.source.comments.push(Comment {
            line: line + empty,
            is_doc: false,
            lines: lines[empty..].iter().map(|it| (*it).to_owned()).collect(),
        });
    }
}

/// Bytes of the string literal with which `text` begins, raw or not.
fn string_length(text: &str) -> Option<usize> {
    let start = ["br", "cr", "r", "b", "c"].iter().find(|it| {
        let rest = text.strip_prefix(**it).map(|it| it.trim_start_matches('#'));
        rest.is_some_and(|it| it.starts_with('"'))
    });
    let start = start.map_or(0, |it| it.len());
    let hashes = text[start..].len() - text[start..].trim_start_matches('#').len();
    let body = start + hashes + 1;
    if !text[start + hashes..].starts_with('"') {
        return None;
    }
    if text[..start].ends_with('r') {
        let end = format!("\"{}", "#".repeat(hashes));
        return Some(
            text[body..]
                .find(&end)
                .map_or(text.len(), |it| body + it + end.len()),
        );
    }
    let mut escaped = false;
    let end = text[body..].find(|it| {
        let ends = it == '"' && !escaped;
        escaped = it == '\\' && !escaped;
        ends
    });
    Some(end.map_or(text.len(), |it| body + it + 1))
}

/// Bytes of the character literal with which `text` begins; none for a lifetime.
fn character_length(text: &str) -> Option<usize> {
    let body = text.strip_prefix('\'')?;
    let first = body.chars().next()?;
    let first_length = first.len_utf8();
    if first == '\\' {
        let behind = first_length + body[first_length..].chars().next()?.len_utf8();
        return Some(1 + behind + body[behind..].find('\'')? + 1);
    }
    body[first_length..]
        .starts_with('\'')
        .then_some(first_length + 2)
}
