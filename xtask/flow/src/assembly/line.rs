// SPDX-License-Identifier: MIT OR Apache-2.0
//! Splits assembly text into labels, directives and instructions.

use anyhow::{Result, bail};

use super::Instruction;

/// What stands in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A label.
    Label(String),
    /// A directive with its dot, and what follows it.
    Directive(String, String),
    /// An instruction.
    Instruction(Instruction),
}

/// A statement of the assembler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The number of its line in the file, from 1 on.
    pub number: usize,
    /// What it is.
    pub kind: Kind,
}

/// Splits a text into statements. Comments are left out.
///
/// # Errors
///
/// If a comment or a string does not end in its line.
pub fn lines(text: &str) -> Result<Vec<Line>> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        // Marks of the preprocessor and of the compiler about inline assembly.
        if line.trim_start().starts_with('#') {
            continue;
        }
        for statement in statements(number, line)? {
            push(&mut found, number, statement.trim());
        }
    }
    Ok(found)
}

fn push(found: &mut Vec<Line>, number: usize, mut statement: &str) {
    while let Some((label, rest)) = label(statement) {
        found.push(Line {
            number,
            kind: Kind::Label(label.to_owned()),
        });
        statement = rest.trim_start();
    }
    if statement.is_empty() {
        return;
    }
    let (first, rest) = statement
        .split_once(char::is_whitespace)
        .unwrap_or((statement, ""));
    let kind = if first.starts_with('.') {
        Kind::Directive(first.to_owned(), rest.trim().to_owned())
    } else {
        Kind::Instruction(Instruction::new(number, first, rest))
    };
    found.push(Line { number, kind });
}

/// The label that a statement begins with, and what is behind it.
fn label(statement: &str) -> Option<(&str, &str)> {
    let (name, rest) = statement.split_once(':')?;
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'.' | b'$'));
    is_name.then_some((name, rest))
}

/// The parts of a line between semicolons, without comments.
fn statements(number: usize, line: &str) -> Result<Vec<String>> {
    let mut parts = vec![String::new()];
    let mut rest = line;
    let mut in_string = false;
    while let Some(first) = rest.chars().next() {
        let mut length = first.len_utf8();
        let mut kept = first.to_string();
        if in_string {
            if first == '\\' {
                let next = rest.chars().nth(1);
                length += next.map_or(0, char::len_utf8);
                kept.extend(next);
            }
            in_string = first != '"';
        } else if rest.starts_with("//") {
            break;
        } else if rest.starts_with("/*") {
            let Some(end) = rest.find("*/") else {
                bail!("line {number}: a comment must end in the line that it begins in");
            };
            length = end + 2;
            kept = " ".to_owned();
        } else if first == ';' {
            parts.push(String::new());
            kept.clear();
        } else {
            in_string = first == '"';
        }
        if let Some(last) = parts.last_mut() {
            last.push_str(&kept);
        }
        rest = &rest[length..];
    }
    if in_string {
        bail!("line {number}: a string must end in the line that it begins in");
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_at_labels_and_semicolons_and_not_in_strings() {
        let text = "a: b:\tadd x0, x1, #1; ret // end\n\t.string \"x; y: // z\\\"\" /* c */\n# 1";
        let found = lines(text).expect("they are lines");
        let kinds: Vec<_> = found.iter().map(|it| &it.kind).collect();
        assert_eq!(kinds.len(), 5);
        assert_eq!(kinds[1], &Kind::Label("b".into()));
        assert!(matches!(kinds[3], Kind::Instruction(it) if it.mnemonic == "ret"));
        let string = Kind::Directive(".string".into(), "\"x; y: // z\\\"\"".into());
        assert_eq!(kinds[4], &string);
    }

    #[test]
    fn a_comment_that_does_not_end_is_refused_with_its_line() {
        let trouble = lines("nop\nnop /* open").expect_err("it does not end");
        assert!(trouble.to_string().contains("line 2"));
    }
}
