// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's own selftests.

use anyhow::Result;
use serde::Deserialize;

use super::{Chapter, headline};
use crate::document::{Block, Section, Table};
use donjon_figures::format::{number, plural};
use donjon_figures::parts::Part;

/// Document of `kselftest --json`.
#[derive(Deserialize)]
pub struct Kselftests {
    mode: String,
    cpu: String,
    cpus: u64,
    linux: String,
    programs: Vec<Program>,
}

#[derive(Deserialize)]
struct Program {
    name: String,
    native: Outcome,
    protected: Outcome,
    worse: Vec<String>,
}

#[derive(Deserialize)]
struct Outcome {
    status: Option<u8>,
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Outcome {
    fn cell(&self) -> String {
        let status = self
            .status
            .map_or("no end".to_owned(), |it| format!("status {it}"));
        format!("{}/{}/{}, {status}", self.passed, self.failed, self.skipped)
    }
}

pub(super) fn chapter(tests: &Kselftests) -> Result<Chapter> {
    let mut section = Section::new(Part::Kselftests.name(), Part::Kselftests.title());
    let worse: Vec<&Program> = tests
        .programs
        .iter()
        .filter(|it| !it.worse.is_empty())
        .collect();
    let sum =
        |of: fn(&Program) -> &Outcome| tests.programs.iter().map(|it| of(it).passed).sum::<u64>();
    section.text(format!(
        "{} of Linux {}, natively and in mode `{}`; CPU {}, {} CPUs. Checks that passed: {} \
         natively, {} protected. A program is worse if a check fails, is skipped or is missing \
         that is not so natively, twice.",
        plural(tests.programs.len(), "program", "programs"),
        tests.linux,
        tests.mode,
        tests.cpu,
        tests.cpus,
        sum(|it| &it.native),
        sum(|it| &it.protected)
    ));
    let sentence = if worse.is_empty() {
        format!(
            "None of {} of the kernel's selftests is worse than natively.",
            tests.programs.len()
        )
    } else {
        let each: Vec<String> = worse
            .iter()
            .map(|it| format!("{}: {}", it.name, it.worse.join(", ")))
            .collect();
        section.note(format!("Worse than natively: {}.", each.join("; ")));
        format!(
            "{} of {} of the kernel's selftests are worse than natively.",
            worse.len(),
            tests.programs.len()
        )
    };
    section.text(sentence);
    let header = ["program", "native", "protected"];
    let mut table = Table::of_words("Passed/failed/skipped checks, and exit status", &header);
    for it in &tests.programs {
        table.row(vec![it.name.clone(), it.native.cell(), it.protected.cell()]);
    }
    section.add(Block::Details(
        format!(
            "The list of {}",
            plural(tests.programs.len(), "program", "programs")
        ),
        vec![Block::Table(table)],
    ));
    Ok(Chapter {
        section,
        headline: vec![headline(
            number(worse.len() as f64, 0),
            format!("of {} kselftests worse than natively", tests.programs.len()),
        )],
    })
}
