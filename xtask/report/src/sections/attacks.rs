// SPDX-License-Identifier: MIT OR Apache-2.0
//! Attacks and their controls.

use anyhow::Result;
use serde::Deserialize;

use super::{Chapter, headline};
use crate::document::{Block, Section, Table};
use donjon_figures::format::plural;
use donjon_figures::parts::Part;

/// An element of what `attack --json` writes.
#[derive(Deserialize)]
pub struct Attack {
    id: String,
    name: String,
    mode: String,
    outcome: String,
    by: String,
    audit_violations: u64,
    control: String,
    note: String,
}

impl Attack {
    fn is_stopped(&self) -> bool {
        self.outcome == "stopped"
    }
}

pub(super) fn chapter(attacks: &[Attack]) -> Result<Chapter> {
    let count = |of: &dyn Fn(&&Attack) -> bool| attacks.iter().filter(of).count();
    let stopped = count(&|it| it.is_stopped());
    let controls = count(&|it| it.control != "n/a");
    let succeeded = count(&|it| it.control == "succeeded");
    let violations: u64 = attacks.iter().map(|it| it.audit_violations).sum();
    let mut section = Section::new(Part::Attacks.name(), Part::Attacks.title());
    section.text(format!(
        "{}, {stopped} stopped; afterwards the auditor found {}. With a control: {controls}, of \
         which {succeeded} succeeded; all have to. A control is the same attack over a build without \
         the protection that it aims at.",
        plural(attacks.len(), "attack", "attacks"),
        plural(violations as usize, "violation", "violations")
    ));
    let wrong: Vec<String> = attacks
        .iter()
        .filter(|it| !it.is_stopped() || it.control == "failed" || it.audit_violations > 0)
        .map(|it| {
            format!(
                "{} ({}): {}; control {}",
                it.id, it.name, it.outcome, it.control
            )
        })
        .collect();
    if !wrong.is_empty() {
        section.note(format!("Not as they have to be: {}.", wrong.join(". ")));
    }
    let header = [
        "attack",
        "what it does",
        "mode",
        "outcome",
        "stopped by",
        "control",
        "name",
    ];
    let mut table = Table::of_words("All attacks", &header);
    for it in attacks {
        let what = it.note.split(';').next().unwrap_or_default();
        let cells = [
            &it.id,
            what,
            &it.mode,
            &it.outcome,
            &it.by,
            &it.control,
            &it.name,
        ];
        table.row(cells.map(str::to_owned).to_vec());
    }
    section.add(Block::Details(
        format!("The list of {}", plural(attacks.len(), "attack", "attacks")),
        vec![Block::Table(table)],
    ));
    let what = format!("{stopped} of {}", attacks.len());
    Ok(Chapter {
        section,
        headline: vec![headline(
            what,
            format!("attacks stopped; {succeeded} of {controls} controls succeed"),
        )],
    })
}
