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
    /// How often the compiler believes that the code from here on runs.
    Often(u64),
    /// How often the compiler believes that the next branch is taken, and that it is not.
    Odds(u64, u64),
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
        if let Some(kind) = guess(line) {
            found.push(Line { number, kind });
            continue;
        }
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

/// What a comment of the compiler says about how often code runs (`-dA` makes it say so).
fn guess(line: &str) -> Option<Kind> {
    let comment = line.strip_prefix("// ")?;
    let count = |text: &str| {
        let (_, rest) = text.split_once("count:")?;
        let end = rest.find(|it: char| !it.is_ascii_digit());
        let digits = &rest[..end.unwrap_or(rest.len())];
        digits.parse::<u64>().ok()
    };
    if comment.starts_with("BLOCK ") {
        return count(comment).map(Kind::Often);
    }
    let edges = comment.strip_prefix("SUCC: ")?;
    // Of each edge: a block, a probability, a count and marks in parentheses, the last of which
    // tell the edge that falls through.
    let mut parts = edges.split("count:").skip(1);
    let (one, other) = (parts.next()?, parts.next()?);
    let falls = |text: &str| {
        let marks = text.split(['(', ')', ',']);
        marks.into_iter().any(|it| it == "FALLTHRU")
    };
    let number = |text: &str| count(&format!("count:{text}"));
    match (falls(one), falls(other)) {
        (false, true) => Some(Kind::Odds(number(one)?, number(other)?)),
        (true, false) => Some(Kind::Odds(number(other)?, number(one)?)),
        _ => None,
    }
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
    fn guesses_of_the_compiler_are_read() {
        let text = "// BLOCK 2, count:99 (estimated locally) seq:0\n\
                    // SUCC: 6 [34.0% (guessed)]  count:60 (estimated locally) (CAN_FALLTHRU) 3 \
                    [66.0% (guessed)]  count:118 (estimated locally) (FALLTHRU,CAN_FALLTHRU)\n\
                    // SUCC: 3 [always]  count:5 (estimated locally) (FALLTHRU)";
        let found = lines(text).expect("they are comments");
        let kinds: Vec<_> = found.into_iter().map(|it| it.kind).collect();
        assert_eq!(kinds, [Kind::Often(99), Kind::Odds(60, 118)]);
    }

    #[test]
    fn a_comment_that_does_not_end_is_refused_with_its_line() {
        let trouble = lines("nop\nnop /* open").expect_err("it does not end");
        assert!(trouble.to_string().contains("line 2"));
    }
}
