// SPDX-License-Identifier: MIT OR Apache-2.0
//! Comments that a reader understands where they stand: a doc comment names its object, a SAFETY
//! comment has its claim, and no line is wider than 100 columns.

mod comments;
mod width;

use std::fs;

use anyhow::{Context, Result};
use donjon_machine::paths;

use self::comments::{Comment, Source};
use super::{none, tree};

/// Openings that lean on the comment before.
const POINTERS: [&str; 15] = [
    "The same",
    "As above",
    "As before",
    "As below",
    "As for",
    "As in",
    "All of it",
    "All of them",
    "Most of them",
    "None of them",
    "That one",
    "Another one",
    "So many",
    "So much",
    "What it was",
];

/// Further openings of a doc comment, whose first line has to name its object.
const PRONOUNS: [&str; 14] = [
    "As", "All of", "All that", "It", "Its", "They", "Their", "This", "These", "Those", "And",
    "Or", "That", "Of",
];

/// Openings of a SAFETY comment that send the reader elsewhere.
const CLAIMS: [&str; 5] = ["as", "see", "likewise", "the caller's", "the same"];

/// Languages with comments, by the extensions of files.
const LANGUAGES: [&str; 4] = ["rs", "c", "h", "S"];

/// Fails with one line for each comment that does not stand alone, and for each line that is too
/// wide.
pub fn check() -> Result<()> {
    let mut complaints = Vec::new();
    let extensions = LANGUAGES.iter().chain(&width::OTHERS);
    for extension in extensions {
        for path in tree::files(extension)? {
            let shown = path.strip_prefix(paths::root()).unwrap_or(&path);
            let text =
                fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
            let found = complaints_about(extension, &text).into_iter();
            complaints
                .extend(found.map(|(line, what)| format!("{}:{line}: {what}", shown.display())));
        }
    }
    none(&complaints)
}

/// Complaints about a file, with the numbers of their lines.
fn complaints_about(extension: &str, text: &str) -> Vec<(usize, String)> {
    if !LANGUAGES.contains(&extension) {
        return width::complaints(extension, text, &Source::default());
    }
    let source = Source::read(text);
    let mut complaints: Vec<_> = source
        .comments
        .iter()
        .filter_map(|it| complaint(extension, it))
        .collect();
    complaints.extend(width::complaints(extension, text, &source));
    complaints
}

/// What is wrong with a comment. Others of Rust than doc comments may point to the code around
/// them.
fn complaint(extension: &str, comment: &Comment) -> Option<(usize, String)> {
    let lines = || (comment.line..).zip(&comment.lines);
    let says = |number: usize, what: &str, opening: &str| {
        Some((number, format!("{what} begins with `{opening}`: {ADVICE}")))
    };
    if let Some((number, claim)) = lines().find_map(|(number, line)| {
        let claim = line.strip_prefix("SAFETY:")?;
        Some((number, claim.trim_start().to_owned()))
    }) && let Some(opening) = opening(&claim, &CLAIMS)
    {
        return says(number, "a SAFETY comment", opening);
    }
    let (_, first) = lines().next()?;
    if comment.is_doc
        && let Some(opening) = opening(first, &PRONOUNS)
    {
        return says(comment.line, "a doc comment", opening);
    }
    let inspected = match (comment.is_doc, extension) {
        // A sentence that begins a line counts as well.
        (true, _) => comment.lines.len(),
        (false, "rs") => 0,
        (false, _) => 1,
    };
    let (number, opening) = lines()
        .take(inspected)
        .find_map(|(number, line)| Some((number, opening(line, &POINTERS)?)))?;
    says(number, "a comment", opening)
}

const ADVICE: &str = "say what the item is or does, so that it can be read alone (CONTRIBUTING.md, \
                      Style)";

/// The opening with which `text` begins, as whole words.
fn opening(text: &str, openings: &[&'static str]) -> Option<&'static str> {
    let begins = |it: &&&str| {
        text.strip_prefix(**it)
            .is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()))
    };
    openings.iter().find(begins).copied()
}

#[cfg(test)]
mod tests;
