// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real programs.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Deserialize;

use super::{Chapter, NATIVE, headline, modes};
use crate::document::{Block, Figure, Section, Table};
use crate::plot::{Bar, Bars, Chart, Colour, Group};
use crate::published;
use donjon_figures::format::{added, number, percent};
use donjon_figures::parts::Part;

/// Document of `bench programs --json`.
#[derive(Deserialize)]
pub struct Programs {
    unit: String,
    cpu: String,
    linux: String,
    /// Rows.
    pub programs: Vec<Program>,
    /// stress-ng, in time of the emulator.
    #[serde(default)]
    stress: Vec<Stress>,
}

/// A stressor on a machine.
#[derive(Deserialize)]
struct Stress {
    name: String,
    cpus: u32,
    unit: String,
    /// Figures by kernel.
    time: BTreeMap<String, f64>,
}

/// A program.
#[derive(Deserialize)]
pub struct Program {
    /// Name of the program.
    pub name: String,
    unit: String,
    goal_percent: f64,
    /// Instructions for one unit of work, by kernel.
    pub instructions: BTreeMap<String, f64>,
    /// What each pair of runs counted, by kernel.
    #[serde(default)]
    samples: BTreeMap<String, Vec<f64>>,
    /// Calls for one unit of work, by mode.
    pub calls: BTreeMap<String, f64>,
}

impl Program {
    /// Half of what lies between the largest and the smallest sample of a mode, in percent of the
    /// native figure.
    fn deviation(&self, mode: &str) -> f64 {
        let samples = self.samples.get(mode).into_iter().flatten().copied();
        let least = samples.clone().fold(f64::INFINITY, f64::min);
        let most = samples.fold(f64::NEG_INFINITY, f64::max);
        let native = self.instructions.get(NATIVE).filter(|_| most > least);
        native.map_or(0.0, |native| (most - least) / 2.0 / native * 100.0)
    }

    fn added(&self, mode: &str) -> Option<f64> {
        added(
            *self.instructions.get(NATIVE)?,
            *self.instructions.get(mode)?,
        )
    }
}

pub(super) fn chapter(programs: &Programs) -> Result<Chapter> {
    let rows = &programs.programs;
    let all: Vec<String> = rows
        .iter()
        .flat_map(|it| it.instructions.keys().cloned())
        .collect();
    let modes = modes(&all);
    let mut section = Section::new(Part::Programs.name(), Part::Programs.title());
    section.text(format!(
        "Debian's programs over a file system in memory: {}. CPU {}, Linux {}. The goal is the \
         most that a mode may add.",
        programs.unit, programs.cpu, programs.linux
    ));
    let mut header = vec!["program".to_owned(), "unit of work".into(), NATIVE.into()];
    header.extend(
        modes
            .iter()
            .flat_map(|it| [format!("`{it}`"), format!("calls, `{it}`")]),
    );
    header.push("goal".to_owned());
    let mut table = Table {
        caption: "Instructions for one unit of work, and what each mode adds".into(),
        header,
        words: 2,
        rows: Vec::new(),
    };
    let mut groups = Vec::new();
    let mut missed = Vec::new();
    for row in rows {
        let native = row.instructions.get(NATIVE);
        let native = native.map_or(String::new(), |it| number(*it, 0));
        let mut cells = vec![row.name.clone(), row.unit.clone(), native];
        let mut bars = Vec::new();
        for (series, mode) in modes.iter().enumerate() {
            let percents = row.added(mode);
            cells.push(percents.map_or(String::new(), percent));
            let calls = row.calls.get(mode);
            cells.push(calls.map_or(String::new(), |it| number(*it, 2)));
            if let Some(value) = percents {
                bars.push(Bar {
                    series,
                    value,
                    deviation: row.deviation(mode),
                    text: percent(value),
                });
                if value > row.goal_percent {
                    missed.push(format!("{} (`{mode}`)", row.name));
                }
            }
        }
        cells.push(format!("{} %", number(row.goal_percent, 0)));
        table.row(cells);
        groups.push(Group {
            name: row.name.clone(),
            bars,
            mark: Some(row.goal_percent),
        });
    }
    let said: Vec<String> = rows
        .iter()
        .filter_map(|it| {
            Some(format!(
                "{} {}",
                it.name,
                percent(it.added(modes.first()?)?)
            ))
        })
        .collect();
    section.add(Block::Figure(Figure {
        caption: "What each mode adds to a program, in percent of instructions; the upright line \
                  is the goal. Whiskers: half of the difference of largest and smallest sample."
            .into(),
        alternative: format!(
            "Bars in groups, percent over native. {}: {}.",
            modes.first().map_or("Mode", String::as_str),
            said.join("; ")
        ),
        chart: Chart::Bars(Bars {
            unit: "percent more instructions than native".into(),
            suffix: " %",
            places: 1,
            series: modes
                .iter()
                .map(|it| (Colour::of_mode(it), it.clone()))
                .collect(),
            mark: Some("goal".into()),
            groups,
        }),
    }));
    section.add(Block::Table(table));
    section.text(if missed.is_empty() {
        "No program is above its goal.".to_owned()
    } else {
        format!("Above the goal: {}.", missed.join(", "))
    });
    section.add(published::of_section(
        Part::Programs,
        "What others published of programs: scores and times on hardware",
    )?);
    section.text(
        "Their programs are others than ours, and theirs are scores, of which more is better, so \
         that a negative change is a loss, or times. Ours are instructions: compare the order of \
         size at most. `ti` invalidates the TLB as `tlbi` does.",
    );
    if let Some(first) = programs.stress.first() {
        section.text(format!(
            "stress-ng on several CPUs, each with the same amount of work, in {}: no statement \
             about hardware.",
            first.unit
        ));
        section.add(Block::Table(stress(&programs.stress, &modes)));
    }
    let most = rows.iter().filter_map(|it| Some((it, it.added("asid")?)));
    let most = most.max_by(|one, other| one.1.total_cmp(&other.1));
    let mut lines = Vec::new();
    if let Some((row, value)) = most {
        lines.push(headline(
            percent(value),
            format!(
                "most that `asid` adds to one of {} programs ({})",
                rows.len(),
                row.name
            ),
        ));
    }
    Ok(Chapter {
        section,
        headline: lines,
    })
}

fn stress(rows: &[Stress], modes: &[String]) -> Table {
    let mut header = vec!["stressor".to_owned(), "CPUs".into(), NATIVE.into()];
    header.extend(
        modes
            .iter()
            .flat_map(|it| [format!("`{it}`"), format!("`{it}`, times native")]),
    );
    let mut table = Table {
        caption: "stress-ng: time in the emulator".into(),
        header,
        words: 1,
        rows: Vec::new(),
    };
    for row in rows {
        let native = row.time.get(NATIVE);
        let whole = |it: Option<&f64>| it.map_or(String::new(), |it| number(*it, 0));
        let mut cells = vec![row.name.clone(), row.cpus.to_string(), whole(native)];
        for mode in modes {
            let time = row.time.get(mode);
            let times = time.zip(native).map(|(time, native)| time / native);
            cells.push(whole(time));
            cells.push(times.map_or(String::new(), |it| number(it, 2)));
        }
        table.row(cells);
    }
    table
}
