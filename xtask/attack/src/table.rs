// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of attacks in the documentation.

use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result};
use donjon_generator::{generated, section};
use donjon_machine::arguments::Switch;
use donjon_machine::paths;

use super::attempt::{Attack, Control};
use super::list::{SUBJECTS, Subject};

const DOCUMENT: &str = "docs/attacks.md";

/// Writes it, or with `check` only compares it.
///
/// # Errors
///
/// With `check`, when the document has another table; when the document or its markers are
/// missing.
pub fn run(check: bool) -> Result<()> {
    let path = paths::in_root(DOCUMENT);
    let found = fs::read_to_string(&path).with_context(|| format!("reading {DOCUMENT}"))?;
    let text = section::replace(&found, "attacks", &tables()).context(DOCUMENT)?;
    let source = "the table of attacks";
    generated::write_or_check(
        [(DOCUMENT, text)],
        check,
        source,
        "cargo xtask attack table",
    )
}

/// A table for each subject.
fn tables() -> String {
    SUBJECTS.iter().map(table).collect()
}

fn table(subject: &Subject) -> String {
    let mut out = format!(
        "\n### {}\n\n\
         | attack | earlier name | what it attempts | attempts | what stops it | where it has to succeed |\n\
         |---|---|---|---|---|---|\n",
        subject.title
    );
    for attack in subject.attacks {
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} | {} | {} |",
            attack.name,
            attack.alias.map_or_else(dash, code),
            attempted(attack),
            or_dash(attack.attempts.iter().map(|it| code(it.name)), ", "),
            attack.stopped_by,
            or_dash(attack.controls.iter().map(control), "; "),
        );
    }
    out
}

/// What it tries, and where that is not everywhere.
fn attempted(attack: &Attack) -> String {
    let mut conditions = Vec::new();
    if attack.by_device {
        conditions.push("with a disk behind an SMMU".to_owned());
    }
    if attack.by_usb {
        conditions.push("with a disk behind USB, on the machine `raspi3b`".to_owned());
    }
    if let Some(cpu) = attack.cpu {
        conditions.push(format!("CPU `{cpu}`"));
    }
    if attack.modes != Attack::ROW.modes {
        let modes = attack.modes.iter().map(|it: &Switch| code(it.name()));
        conditions.push(format!("mode {}", modes.collect::<Vec<_>>().join(", ")));
    }
    match conditions.is_empty() {
        true => attack.title.to_owned(),
        false => format!("{} ({})", attack.title, conditions.join("; ")),
    }
}

/// The build, the attempts that succeed in it, and what the auditor says then.
fn control(control: &Control) -> String {
    let attempts: Vec<_> = control.attempts.iter().map(|it| code(it)).collect();
    let seen = match control.seen_as {
        [] => String::new(),
        seen => format!(", seen as {}", seen.join(", ")),
    };
    format!(
        "{} in `{}`{seen}",
        attempts.join(", "),
        control.without.name()
    )
}

fn code(name: &str) -> String {
    format!("`{name}`")
}

fn dash() -> String {
    "–".to_owned()
}

fn or_dash(parts: impl Iterator<Item = String>, separator: &str) -> String {
    let parts: Vec<_> = parts.collect();
    if parts.is_empty() {
        dash()
    } else {
        parts.join(separator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt::{Attempt, Without};

    const SUBJECT: Subject = Subject {
        title: "Gates",
        attacks: &[Attack {
            name: "open-gate",
            alias: Some("G1"),
            title: "open the gate",
            stopped_by: "It is locked.",
            attempts: &[
                Attempt::stopped("push", "locked"),
                Attempt::stopped("pull", "locked"),
            ],
            controls: &[Control {
                without: Without::inner(&["weaken-lock"]),
                attempts: &["push"],
                seen_as: &["I1"],
            }],
            cpu: Some("max"),
            ..Attack::ROW
        }],
    };

    #[test]
    fn a_row_has_the_attempts_and_where_they_succeed() {
        let text = table(&SUBJECT);
        assert!(text.starts_with("\n### Gates\n\n| attack |"), "{text}");
        assert_eq!(
            text.lines().last(),
            Some(
                "| `open-gate` | `G1` | open the gate (CPU `max`) | `push`, `pull` | It is locked. \
                 | `push` in `weaken-lock`, seen as I1 |"
            )
        );
    }

    #[test]
    fn the_document_has_the_table() {
        run(true).expect("the current table");
    }
}
