// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rules for the subjects of commits, over the last ones of the current branch.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use donjon_machine::{paths, process};

use crate::docs::none;
use crate::docs::page::Page;
use crate::runner::not_checked;

/// How many commits are looked at.
const LAST: usize = 50;
/// Most characters of a subject.
const LONGEST: usize = 72;
/// Most scopes of a subject.
const SCOPES: usize = 2;
/// The page with the table of scopes.
const PAGE: &str = "CONTRIBUTING.md";
/// How subjects begin that git writes: of a merge, which a shallow clone does not know as one, and
/// of a revert.
const OF_GIT: [&str; 2] = ["Merge ", "Revert \""];

/// Fails if a subject of the last commits breaks a rule. Merges are left out.
pub fn check() -> Result<()> {
    let top = git(&["rev-parse", "--show-toplevel"]);
    let is_ours = |top: &str| same(Path::new(top.trim()), paths::root());
    match top {
        Ok(top) if is_ours(&top) => {}
        Ok(_) => {
            return Err(not_checked(
                "commits: these files are no clone of the repository",
            ));
        }
        Err(error) => {
            return Err(not_checked(format!(
                "commits: git does not know these files as a clone: {error:#}"
            )));
        }
    }
    let Ok(text) = git(&["log", "--no-merges", &format!("-{LAST}"), "--format=%h %s"]) else {
        return Err(not_checked("commits: there is no commit yet"));
    };
    let commits: Vec<_> = text.lines().filter_map(|it| it.split_once(' ')).collect();
    let is_shallow = git(&["rev-parse", "--is-shallow-repository"])?.trim() == "true";
    if is_shallow && commits.len() < LAST {
        println!(
            "a shallow clone: {} commits are looked at, not {LAST}",
            commits.len()
        );
    }
    let page = Page::open(PAGE)?;
    let table = page.table("scope").context(PAGE)?;
    let scopes: Vec<&str> = table.rows.iter().map(|it| it[0].text.as_str()).collect();
    none(&complaints(&commits, &scopes))
}

fn git(arguments: &[&str]) -> Result<String> {
    process::output(
        Command::new("git")
            .args(arguments)
            .current_dir(paths::root()),
    )
}

fn same(one: &Path, other: &Path) -> bool {
    one.canonicalize().ok() == other.canonicalize().ok()
}

/// One line for each fault of a commit, which is its short name and its subject.
fn complaints(commits: &[(&str, &str)], scopes: &[&str]) -> Vec<String> {
    let mut all = Vec::new();
    let is_of_git = |subject: &str| OF_GIT.iter().any(|it| subject.starts_with(it));
    for (commit, subject) in commits.iter().filter(|it| !is_of_git(it.1)) {
        for fault in faults(subject, scopes) {
            all.push(format!("{commit} {subject}: {fault}"));
        }
    }
    all
}

fn faults(subject: &str, scopes: &[&str]) -> Vec<String> {
    let mut faults = Vec::new();
    let length = subject.chars().count();
    if length > LONGEST {
        faults.push(format!("{length} characters, more than {LONGEST}"));
    }
    if subject.ends_with('.') {
        faults.push("a full stop at the end".to_owned());
    }
    let Some((before, _)) = subject.split_once(": ") else {
        faults.push("no scope; write `scope: Say what changes`".to_owned());
        return faults;
    };
    let named: Vec<&str> = before.split(", ").collect();
    for scope in named.iter().filter(|it| !scopes.contains(it)) {
        faults.push(format!("{PAGE} has no scope `{scope}`"));
    }
    if named.len() > SCOPES {
        faults.push(format!("{} scopes, more than {SCOPES}", named.len()));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCOPES: [&str; 3] = ["core", "docs", "test"];

    #[test]
    fn a_subject_by_the_rules_has_no_fault() {
        for subject in [
            "core: Say what changes",
            "core, docs: `NAME` is one word",
            "test: 300 boots: none fails",
        ] {
            assert!(faults(subject, &SCOPES).is_empty(), "{subject}");
        }
    }

    #[test]
    fn each_fault_is_named() {
        let long = format!("core: {}", "A".repeat(67));
        for (subject, fault) in [
            (long.as_str(), "73 characters, more than 72"),
            ("core: Say it.", "a full stop at the end"),
            ("Say it", "no scope; write `scope: Say what changes`"),
            ("kern: Say it", "CONTRIBUTING.md has no scope `kern`"),
            (
                "core,docs: Say it",
                "CONTRIBUTING.md has no scope `core,docs`",
            ),
            ("core, docs, test: Say it", "3 scopes, more than 2"),
        ] {
            assert_eq!(faults(subject, &SCOPES), [fault], "{subject}");
        }
    }

    #[test]
    fn a_subject_of_72_letters_is_not_too_long() {
        let subject = format!("core: {}", "Ä".repeat(66));
        assert!(faults(&subject, &SCOPES).is_empty());
    }

    #[test]
    fn the_commit_is_named() {
        let commits = [
            ("1234567", "core: Say it."),
            ("89abcde", "Merge branch 'one' into two"),
            ("0123456", "Revert \"core: Say it.\""),
        ];
        let found = complaints(&commits, &SCOPES);
        assert_eq!(found, ["1234567 core: Say it.: a full stop at the end"]);
    }
}
