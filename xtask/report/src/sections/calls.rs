// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of Linux's operations, and the longest call of each function.

use anyhow::Result;
use serde::Deserialize;

use super::{Chapter, headline};
use crate::document::{Block, Section, Table};
use donjon_figures::format::number;
use donjon_figures::parts::Part;

/// Document of `bench calls --json`.
#[derive(Deserialize)]
pub struct Calls {
    /// Means of one operation each.
    pub operations: Vec<Operation>,
    longest: Vec<Longest>,
}

/// An operation of Linux.
#[derive(Deserialize)]
pub struct Operation {
    /// Name of the operation.
    pub name: String,
    /// Calls.
    pub calls: f64,
    maps: f64,
    flushes: f64,
    switches: f64,
    /// Inside of the calls.
    pub instructions: f64,
}

#[derive(Deserialize)]
struct Longest {
    function: String,
    instructions: f64,
}

/// The function that waits only because its caller wants to wait.
const WAITING: &str = "text_wait";
/// Once, before anything else runs.
const ONCE: &str = "handover";

pub(super) fn chapter(calls: &Calls) -> Result<Chapter> {
    let mut section = Section::new(Part::Calls.name(), Part::Calls.title());
    section.text(
        "Means of repeated operations in mode `asid`. Calls that fill put entries into the tables \
         of a process; calls that empty take them out. Instructions are those between the gate's \
         ways in and out; the gate itself is not among them.",
    );
    let header = [
        "operation",
        "calls",
        "that fill",
        "that empty",
        "switches",
        "instructions inside",
    ];
    let mut table = Table::new("Calls and instructions of one operation", &header);
    for it in &calls.operations {
        let counts = [it.calls, it.maps, it.flushes, it.switches].map(|it| number(it, 1));
        let mut row = vec![it.name.clone()];
        row.extend(counts);
        row.push(number(it.instructions, 0));
        table.row(row);
    }
    section.add(Block::Table(table));
    let mut longest: Vec<&Longest> = calls.longest.iter().collect();
    longest.sort_by(|one, other| other.instructions.total_cmp(&one.instructions));
    let mut table = Table::new(
        "The longest call of each function",
        &["function", "instructions inside"],
    );
    for it in &longest {
        table.row(vec![
            format!("`{}`", it.function),
            number(it.instructions, 0),
        ]);
    }
    section.add(Block::Table(table));
    section.text(format!(
        "Measured under a load and while a hostile module makes the longest calls that it can. \
         Interrupts are masked in a call, so the command fails if one is longer than its bound. \
         In `{WAITING}` a CPU waits only because its caller wants to wait."
    ));
    let bounded = longest
        .iter()
        .find(|it| it.function != WAITING && it.function != ONCE);
    let mut lines = Vec::new();
    if let Some(it) = bounded {
        lines.push(headline(
            number(it.instructions, 0),
            format!(
                "instructions of the longest call that does not wait, made by a hostile module (`{}`)",
                it.function
            ),
        ));
    }
    Ok(Chapter {
        section,
        headline: lines,
    })
}
