// SPDX-License-Identifier: MIT OR Apache-2.0
//! What ran where, and what did not run.

use std::collections::BTreeMap;

use super::Material;
use crate::document::{Block, Section, Table};
use crate::envelope::UNKNOWN;
use crate::store::Origin;
use donjon_figures::format::{duration, number};
use donjon_figures::parts::Part;

/// From this load on a host is not idle.
const BUSY: f64 = 0.7;

/// What ran where.
pub fn section(material: &Material) -> Section {
    let mut section = Section::new("where", "What ran where");
    section.text(format!(
        "This page was made on {} from the sources at commit {}.",
        material.date,
        material.tree.short()
    ));
    let mut commits: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let header = [
        "part",
        "commit",
        "complete at (UTC)",
        "took",
        "result",
        "machine",
        "QEMU",
        "host",
        "command",
    ];
    let mut table = Table::of_words("Where each part comes from", &header);
    for (part, loaded) in &material.parts {
        let Some(about) = &loaded.envelope else {
            let mut row = vec![part.name().to_owned()];
            row.resize(header.len() - 1, UNKNOWN.to_owned());
            row.push("a JSON file without its envelope".to_owned());
            table.row(row);
            commits
                .entry(UNKNOWN.to_owned())
                .or_default()
                .push(part.name());
            continue;
        };
        let commit = about.tree.short();
        commits.entry(commit.clone()).or_default().push(part.name());
        let result = match (loaded.origin, about.status) {
            (Origin::Record, _) => "recorded",
            (_, Some(0)) => "complete",
            _ => "complete; it found something (status 1)",
        };
        let took = about.seconds.map_or(UNKNOWN.to_owned(), duration);
        let cells = [
            part.name(),
            &commit,
            &minute(&about.date),
            &took,
            result,
            &about.machine,
            &about.qemu,
            &about.host_cpu,
            &format!("`{}`", about.command),
        ];
        table.row(cells.map(str::to_owned).to_vec());
    }
    if commits.len() > 1 {
        let each: Vec<String> = commits
            .iter()
            .map(|(commit, parts)| format!("{commit}: {}", parts.join(", ")))
            .collect();
        section.note(format!(
            "The parts are of different commits ({}). Figures of one part are comparable with \
             each other; between parts they may not be.",
            each.join("; ")
        ));
    } else if let Some((commit, _)) = commits.first_key_value()
        && *commit != material.tree.short()
    {
        section.note(match commit.as_str() {
            UNKNOWN => "The commit that these parts were measured at is not recorded.".to_owned(),
            commit => {
                format!("All parts are of commit {commit}, and the sources are at another one now.")
            }
        });
    }
    if commits.keys().any(|it| it.contains("with changes")) {
        section.note("Parts `with changes` were made from sources that are in no commit.");
    }
    for (part, loaded) in &material.parts {
        let load = loaded.envelope.as_ref().and_then(|it| it.host_load);
        if let Some(load) = load.filter(|it| part.row().is_wall_time && *it >= BUSY) {
            section.note(format!(
                "Figures of several CPUs in {} are wall time, and the host had other work when it \
                 began (load {}). Emulated CPUs then wait for each other, and ratios of modes mean \
                 nothing.",
                part.name(),
                number(load, 1)
            ));
        }
    }
    for (part, why) in &material.reasons {
        if material.parts.contains_key(part) {
            section.note(format!(
                "The figures of {} are older ones, because newer ones could not be had: {why}.",
                part.name()
            ));
        }
    }
    let alike = [
        ("commit", "Commit of all parts"),
        ("QEMU", "QEMU of all parts"),
        ("host", "Host of all parts"),
    ];
    for (head, title) in alike {
        if let Some(value) = table.take_alike(head) {
            section.text(format!("{title}: {value}."));
        }
    }
    if table.rows.is_empty() {
        section.note("Nothing was measured yet.");
    } else {
        section.add(Block::Table(table));
    }
    section
}

/// A date without its seconds.
fn minute(date: &str) -> String {
    date.get(..16).unwrap_or(date).replace('T', " ")
}

/// What is not there, and the command that measures it.
pub fn missing(material: &Material) -> Section {
    let mut section = Section::new("missing", "Not measured");
    let absent: Vec<Part> = Part::ALL
        .into_iter()
        .filter(|it| !material.parts.contains_key(it))
        .collect();
    if absent.is_empty() {
        section.text("Nothing is missing.");
        return section;
    }
    let header = ["part", "command that measures it", "why it is missing"];
    let mut table = Table::of_words("Parts without figures", &header);
    for part in absent {
        let why = material.reasons.get(&part);
        table.row(vec![
            part.name().to_owned(),
            format!("`cargo xtask report --run {}`", part.name()),
            why.cloned().unwrap_or_else(|| "it was not run".to_owned()),
        ]);
    }
    section.add(Block::Table(table));
    section
}
