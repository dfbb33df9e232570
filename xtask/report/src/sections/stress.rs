// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wall time of a fixed amount of work.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Deserialize;

use super::{Chapter, NATIVE, modes};
use crate::document::{Block, Figure, Section, Table};
use crate::plot::{Bar, Bars, Chart, Colour, Group};
use donjon_figures::format::number;
use donjon_figures::parts::Part;

type Figures = BTreeMap<String, f64>;

/// Document of `bench stress --json`.
#[derive(Deserialize)]
pub struct Stress {
    unit: String,
    cpus: u64,
    work: BTreeMap<String, Figures>,
    huge: Figures,
    waits: BTreeMap<String, Figures>,
    calls: Figures,
}

/// The sum of all kinds of work.
const ALL: &str = "all";

pub(super) fn chapter(stress: &Stress) -> Result<Chapter> {
    let modes = modes(stress.huge.keys());
    let mut section = Section::new(Part::Stress.name(), Part::Stress.title());
    section.text(format!(
        "A fixed amount of work on {} CPUs: {}. The emulator drops its TLB at each write of \
         TCR_EL1, which a processor does not do, so these ratios say nothing about hardware. They \
         show that the work is done, and where locks are contended. They need a host that does \
         nothing else.",
        stress.cpus, stress.unit
    ));
    let mut header = vec!["work".to_owned(), "native, milliseconds".to_owned()];
    header.extend(modes.iter().map(|it| format!("`{it}`, times native")));
    let mut table = Table {
        caption: "Wall time in the emulator".into(),
        header,
        words: 1,
        rows: Vec::new(),
    };
    let mut groups = Vec::new();
    let kinds = stress.work.iter().filter(|it| it.0 != ALL);
    for (kind, figures) in kinds.chain(stress.work.get_key_value(ALL)) {
        let native = figures.get(NATIVE).copied().unwrap_or(f64::NAN);
        let mut cells = vec![kind.clone(), number(native, 0)];
        let mut bars = Vec::new();
        for (series, mode) in modes.iter().enumerate() {
            let times = figures
                .get(mode)
                .map(|it| it / native)
                .filter(|it| it.is_finite());
            cells.push(times.map_or(String::new(), |it| number(it, 2)));
            bars.extend(times.map(|value| Bar {
                series,
                value,
                deviation: 0.0,
                text: number(value, 2),
            }));
        }
        table.row(cells);
        groups.push(Group {
            name: kind.clone(),
            bars,
            mark: Some(1.0),
        });
    }
    let said: Vec<String> = table
        .rows
        .iter()
        .map(|it| format!("{} {}", it[0], it[2..].join(", ")))
        .collect();
    section.add(Block::Figure(Figure {
        caption: "Wall time in the emulator, times that of the native kernel; the upright line is \
                  1, as long as native."
            .into(),
        alternative: format!(
            "Bars in groups, times native, by mode: {}.",
            said.join("; ")
        ),
        chart: Chart::Bars(Bars {
            unit: "times native (wall time of the emulator)".into(),
            places: 1,
            series: modes
                .iter()
                .map(|it| (Colour::of_mode(it), it.clone()))
                .collect(),
            mark: Some("as long as native".into()),
            groups,
            ..Bars::default()
        }),
    }));
    section.add(Block::Table(table));
    let mut table = Table::new(
        "64 MiB in huge pages, calls of the whole work, and how often a lock was found held",
        &[
            "mode",
            "instructions for 64 MiB",
            "times native",
            "calls",
            "locks found held",
        ],
    );
    let native = stress.huge.get(NATIVE).copied();
    for mode in [NATIVE.to_owned()].iter().chain(&modes) {
        let figure = stress.huge.get(mode).copied();
        let times = figure.zip(native).map(|(it, native)| it / native);
        let waits = stress.waits.get(mode).into_iter().flatten();
        let waits: Vec<String> = waits
            .map(|(lock, it)| format!("{lock} {}", number(*it, 0)))
            .collect();
        let calls = stress.calls.get(mode);
        table.row(vec![
            mode.clone(),
            figure.map_or(String::new(), |it| number(it, 0)),
            times.map_or(String::new(), |it| number(it, 4)),
            calls.map_or(String::new(), |it| number(*it, 0)),
            waits.join(", "),
        ]);
    }
    section.add(Block::Table(table));
    Ok(Chapter {
        section,
        headline: Vec::new(),
    })
}
