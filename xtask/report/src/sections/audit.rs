// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the auditor saw.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use serde::Deserialize;
use serde_json::Value;

use super::{Chapter, headline};
use crate::document::{Block, Section, Table};
use donjon_figures::format::{number, plural};
use donjon_figures::parts::Part;

/// Document of `audit --json`.
#[derive(Deserialize)]
pub struct Audit {
    violations: Vec<Value>,
    audits: Vec<Once>,
}

#[derive(Deserialize)]
struct Once {
    at: String,
    violations: Vec<Value>,
    cpus: f64,
    user_roots: f64,
    tables: f64,
    leaves: f64,
    exec_pages: f64,
    code_bytes: f64,
    geometries: f64,
    frames: BTreeMap<String, f64>,
}

pub(super) fn chapter(audit: &Audit) -> Result<Chapter> {
    ensure!(!audit.audits.is_empty(), "no audit is in it");
    let mut section = Section::new(Part::Audit.name(), Part::Audit.title());
    section.text(
        "The auditor stops the machine, reads its memory and registers from outside, and checks \
         the invariants with code that shares nothing with the rules.",
    );
    let mut table = Table {
        caption: "How much each audit looked at, and what it found".into(),
        header: vec!["figure".to_owned()],
        words: 1,
        rows: Vec::new(),
    };
    table
        .header
        .extend(audit.audits.iter().map(|it| format!("at {}", it.at)));
    type Figure = fn(&Once) -> f64;
    let rows: [(&str, Figure); 8] = [
        ("violations", |it| it.violations.len() as f64),
        ("CPUs", |it| it.cpus),
        ("roots of user tables", |it| it.user_roots),
        ("tables", |it| it.tables),
        ("leaf entries", |it| it.leaves),
        ("pages that EL1 can execute", |it| it.exec_pages),
        ("bytes of code scanned", |it| it.code_bytes),
        ("forged geometries tried", |it| it.geometries),
    ];
    for (name, of) in rows {
        let mut cells = vec![name.to_owned()];
        cells.extend(audit.audits.iter().map(|it| number(of(it), 0)));
        table.row(cells);
    }
    let mut classes: Vec<&String> = audit
        .audits
        .iter()
        .flat_map(|it| it.frames.keys())
        .collect();
    classes.sort_unstable();
    classes.dedup();
    for class in classes {
        let mut cells = vec![format!("frames: {class}")];
        let frames = |it: &Once| it.frames.get(class).copied().unwrap_or_default();
        cells.extend(audit.audits.iter().map(|it| number(frames(it), 0)));
        table.row(cells);
    }
    section.add(Block::Table(table));
    for violation in audit.violations.iter().take(20) {
        let word = |name: &str| violation[name].as_str().unwrap_or_default();
        section.note(format!(
            "{}: {} (at {})",
            word("invariant"),
            word("text"),
            word("at")
        ));
    }
    let times = plural(audit.audits.len(), "audit", "audits");
    Ok(Chapter {
        section,
        headline: vec![headline(
            number(audit.violations.len() as f64, 0),
            format!("violations of invariants found from outside, in {times}"),
        )],
    })
}
