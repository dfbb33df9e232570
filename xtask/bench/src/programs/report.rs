// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of programs.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Result, ensure};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use super::list::Program;
use super::script::{self, Sample};
use super::stress;

/// Most that the protection may add where a program computes or serves, and where it starts
/// processes, in percent.
const GOALS: (f64, f64) = (1.0, 4.0);
/// The column of the kernel without Donjon.
pub const NATIVE: &str = "native";

/// What `bench programs` measured.
#[derive(Debug, Serialize)]
pub struct Report {
    /// What the figures count.
    pub unit: &'static str,
    /// Model of the CPU.
    pub cpu: String,
    /// Release of Linux.
    pub linux: String,
    /// Programs, in instructions.
    pub programs: Vec<Row>,
    /// stress-ng on several CPUs, in time of the emulator.
    pub stress: Vec<stress::Row>,
}

/// A program.
#[derive(Debug, Serialize)]
pub struct Row {
    /// Name of the program.
    pub name: &'static str,
    /// What is counted as one.
    pub unit: &'static str,
    /// Most percent that the protection may add.
    pub goal_percent: f64,
    /// Instructions for one unit, by kernel: the median of the samples.
    pub instructions: BTreeMap<String, f64>,
    /// What each pair of runs counted, by kernel.
    pub samples: BTreeMap<String, Vec<f64>>,
    /// Calls of the inner domain for one unit, by mode.
    pub calls: BTreeMap<String, f64>,
}

impl Row {
    /// Without figures.
    pub fn new(program: &Program) -> Self {
        Self {
            name: program.name,
            unit: program.unit,
            goal_percent: match program.starts_processes {
                true => GOALS.1,
                false => GOALS.0,
            },
            instructions: BTreeMap::new(),
            samples: BTreeMap::new(),
            calls: BTreeMap::new(),
        }
    }

    /// Adds what was counted over a kernel.
    fn add(&mut self, kernel: &str, samples: &[Sample]) {
        let middle = |figure: fn(&Sample) -> f64| {
            let mut all: Vec<f64> = samples.iter().map(figure).collect();
            all.sort_by(f64::total_cmp);
            all.get(all.len() / 2).copied().unwrap_or_default()
        };
        let instructions = middle(|it| it.instructions);
        self.instructions.insert(kernel.into(), instructions);
        let all = samples.iter().map(|it| it.instructions).collect();
        self.samples.insert(kernel.into(), all);
        if kernel != NATIVE {
            self.calls.insert(kernel.into(), middle(|it| it.calls));
        }
    }

    /// The largest sample less the smallest, in percent of the median, over the kernel where that
    /// is most.
    fn spread(&self) -> f64 {
        let of = |(kernel, samples): (&String, &Vec<f64>)| {
            let least = samples.iter().copied().fold(f64::INFINITY, f64::min);
            let most = samples.iter().copied().fold(0.0, f64::max);
            let median = self.instructions.get(kernel)?;
            Some((most - least) / median * 100.0)
        };
        self.samples.iter().filter_map(of).fold(0.0, f64::max)
    }

    /// Percent that a mode adds.
    pub fn added(&self, mode: &str) -> Option<f64> {
        let native = self.instructions.get(NATIVE)?;
        Some((self.instructions.get(mode)? / native - 1.0) * 100.0)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let modes = self.programs.first().map(|it| it.calls.keys());
        let modes: Vec<&String> = modes.into_iter().flatten().collect();
        let mut header = vec!["program".to_owned(), "unit".into(), NATIVE.into()];
        for mode in &modes {
            header.extend([(*mode).clone(), format!("calls, {mode}")]);
        }
        header.extend(["spread".into(), "goal".into()]);
        let mut table = Table::new();
        table
            .load_style(presets::ASCII_MARKDOWN)
            .set_header(&header);
        for row in &self.programs {
            let native = row.instructions.get(NATIVE);
            let native = native.map_or("-".into(), |it| format!("{it:.0}"));
            let mut cells = vec![row.name.to_owned(), row.unit.to_owned(), native];
            for mode in &modes {
                let added = row.added(mode);
                cells.push(added.map_or("-".into(), |it| format!("{it:+.2} %")));
                let calls = row.calls.get(*mode);
                cells.push(calls.map_or("-".into(), |it| format!("{it:.2}")));
            }
            cells.push(format!("{:.2} %", row.spread()));
            cells.push(format!("{:.0} %", row.goal_percent));
            table.add_row(cells);
        }
        for column in table.column_iter_mut().skip(2) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        if !self.programs.is_empty() {
            write!(f, "{table}")?;
        }
        let missed = self.missed();
        if !missed.is_empty() {
            write!(f, "\n\nabove the goal: {}", missed.join(", "))?;
        }
        if let Some(row) = self.stress.first() {
            let gap = if self.programs.is_empty() { "" } else { "\n\n" };
            write!(
                f,
                "{gap}{}; no statement about hardware\n{}",
                row.unit,
                stress::table(&self.stress)
            )?;
        }
        Ok(())
    }
}

impl Report {
    /// Adds what the guest printed over a kernel.
    ///
    /// # Errors
    ///
    /// If a program has no figures.
    pub fn add(&mut self, kernel: &str, programs: &[&Program], text: &str) -> Result<()> {
        for (row, program) in self.programs.iter_mut().zip(programs) {
            row.add(kernel, &script::samples(text, program)?);
        }
        Ok(())
    }

    /// Fails if a mode adds more to a program than its goal.
    ///
    /// # Errors
    ///
    /// That is the error; it names the programs.
    pub fn check(&self) -> Result<()> {
        let missed = self.missed();
        ensure!(missed.is_empty(), "above the goal: {}", missed.join(", "));
        Ok(())
    }

    /// Programs and modes above the goal.
    fn missed(&self) -> Vec<String> {
        let mut missed = Vec::new();
        for row in &self.programs {
            for mode in row.instructions.keys() {
                if row.added(mode).is_some_and(|it| it > row.goal_percent) {
                    missed.push(format!("{} ({mode})", row.name));
                }
            }
        }
        missed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::list::PROGRAMS;

    #[test]
    fn what_is_above_its_goal_is_named() {
        let mut row = Row::new(&PROGRAMS[0]);
        for (kernel, figure) in [(NATIVE, 1000.0), ("asid", 1005.0), ("tlbi", 1011.0)] {
            let samples = [990.0, 20.0, 1.0].map(|more| Sample {
                instructions: figure - 20.0 + more,
                calls: 0.25,
            });
            row.add(kernel, &samples);
        }
        assert_eq!(row.instructions["asid"], 1005.0);
        assert_eq!(row.spread(), 98.9);
        let report = Report {
            unit: "instructions",
            cpu: "cortex-a57".into(),
            linux: "6.12".into(),
            programs: vec![row],
            stress: Vec::new(),
        };
        let text = report.to_string();
        assert!(text.contains("+0.50 %"), "{text}");
        assert!(text.contains("+1.10 %"), "{text}");
        assert!(
            text.ends_with("above the goal: sqlite3 insert (tlbi)"),
            "{text}"
        );
        let error = report.check().expect_err("a goal is missed").to_string();
        assert_eq!(error, "above the goal: sqlite3 insert (tlbi)");
        let mut within = report;
        within.programs[0].instructions.remove("tlbi");
        within.check().expect("every goal is met");
    }
}
