// SPDX-License-Identifier: MIT OR Apache-2.0
//! The README: how long it may be, and that its numbers about the patch are those of the series.
//! The page of commands: that it is what the command line generates.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use donjon_machine::{paths, process};

/// Most bytes of the README.
const LONGEST: usize = 8192;
/// The patches for existing files of Linux.
const SERIES: &str = "kernel-patch/series";

/// What the README says of the series.
#[derive(Debug, Default, PartialEq, Eq)]
struct Series {
    patches: usize,
    lines_added: usize,
    files: usize,
}

/// Fails if the README is too long, or says something else of the series than is true.
pub fn check_readme() -> Result<()> {
    let readme = read("README.md")?;
    ensure!(
        readme.len() <= LONGEST,
        "README.md has {} bytes, at most {LONGEST} are allowed: move something to a page of docs/",
        readme.len()
    );
    let mut texts = Vec::new();
    for entry in fs::read_dir(paths::in_root(SERIES)).context(SERIES)? {
        texts.push(fs::read_to_string(entry?.path())?);
    }
    let series = count(&texts);
    expect("README.md", &readme, &series.in_readme())?;
    expect(
        "docs/readers.md",
        &read("docs/readers.md")?,
        &series.in_answers(),
    )
}

/// Fails if the page of commands is not what the running program generates.
pub fn check_commands() -> Result<()> {
    commands(&["commands", "--check"])
}

/// Writes the page of commands.
///
/// # Errors
///
/// If it cannot be written.
pub fn write_commands() -> Result<()> {
    commands(&["commands"])
}

/// Runs this program, which alone knows its command line.
fn commands(arguments: &[&str]) -> Result<()> {
    process::output(Command::new(process::this_program()).args(arguments)).map(|_| ())
}

impl Series {
    /// Returns the statement of the README.
    fn in_readme(&self) -> String {
        let Self {
            patches,
            lines_added,
            files,
        } = self;
        format!(
            "The patch is {patches} patches with one hook each: {lines_added} lines added to {files} \
             files of Linux"
        )
    }

    /// Returns the answer on the page of readers.
    fn in_answers(&self) -> String {
        let Self {
            patches,
            lines_added,
            files,
        } = self;
        format!("{patches} patches, {lines_added} lines added in {files} files of Linux")
    }
}

/// Counts the patches, the lines that they add, and the files that they change.
fn count(patches: &[String]) -> Series {
    let lines = || patches.iter().flat_map(|it| it.lines());
    let is_added = |line: &&str| line.starts_with('+') && !line.starts_with("+++ ");
    let changed: BTreeSet<&str> = lines().filter_map(|it| it.strip_prefix("+++ ")).collect();
    Series {
        patches: patches.len(),
        lines_added: lines().filter(is_added).count(),
        files: changed.len(),
    }
}

fn read(name: &str) -> Result<String> {
    fs::read_to_string(paths::in_root(name)).with_context(|| format!("reading {name}"))
}

/// Fails unless a text has a statement, wherever its lines end.
fn expect(name: &str, text: &str, statement: &str) -> Result<()> {
    let words: Vec<&str> = text.split_whitespace().collect();
    ensure!(
        words.join(" ").contains(statement),
        "{name} does not say \"{statement}\", as the series in {SERIES} is: correct the numbers"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_files_of_patches_are_counted() {
        let one = "--- a/x.c\n+++ b/x.c\n@@ -1 +1,2 @@\n-old\n+new\n+newer\n";
        let two = "--- a/x.c\n+++ b/x.c\n+once more\n--- a/y.h\n+++ b/y.h\n+header\n";
        let expected = Series {
            patches: 2,
            lines_added: 4,
            files: 2,
        };
        assert_eq!(count(&[one.to_owned(), two.to_owned()]), expected);
    }

    #[test]
    fn a_statement_may_go_over_lines_and_a_wrong_number_is_found() {
        expect("it", "has 3 patches,\n4 lines", "3 patches, 4 lines").expect("there");
        let error = expect("it", "has 3 patches", "4 patches").expect_err("wrong");
        assert!(error.to_string().contains("4 patches"), "{error}");
    }
}
