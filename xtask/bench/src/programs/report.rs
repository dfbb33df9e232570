// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of programs.

use anyhow::{Result, ensure};
use donjon_figures::records::NATIVE;
use donjon_figures::records::programs::{Program as Row, Programs};

use super::list::Program;
use super::script::{self, Sample};
use super::stress;
use crate::Record;
use crate::table::{rounded, table};

/// Most that the protection may add where a program computes or serves, and where it starts
/// processes, in percent.
const GOALS: (f64, f64) = (1.0, 4.0);

/// A row without figures.
pub fn row(program: &Program) -> Row {
    Row {
        name: program.name.into(),
        unit: program.unit.into(),
        goal_percent: match program.starts_processes {
            true => GOALS.1,
            false => GOALS.0,
        },
        ..Row::default()
    }
}

/// Adds what the guest printed over a kernel.
///
/// # Errors
///
/// If a program has no figures.
pub fn add(rows: &mut [Row], kernel: &str, programs: &[&Program], text: &str) -> Result<()> {
    for (row, program) in rows.iter_mut().zip(programs) {
        add_samples(row, kernel, &script::samples(text, program)?);
    }
    Ok(())
}

/// Adds what was counted over a kernel.
fn add_samples(row: &mut Row, kernel: &str, samples: &[Sample]) {
    let middle = |figure: fn(&Sample) -> f64| {
        let mut all: Vec<f64> = samples.iter().map(figure).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or_default()
    };
    let instructions = middle(|it| it.instructions);
    row.instructions.insert(kernel.into(), instructions);
    let all = samples.iter().map(|it| it.instructions).collect();
    row.samples.insert(kernel.into(), all);
    if kernel != NATIVE {
        row.calls.insert(kernel.into(), middle(|it| it.calls));
    }
}

/// The largest sample less the smallest, in percent of the median, over the kernel where that is
/// most.
fn spread(row: &Row) -> f64 {
    let of = |(kernel, samples): (&String, &Vec<f64>)| {
        let least = samples.iter().copied().fold(f64::INFINITY, f64::min);
        let most = samples.iter().copied().fold(0.0, f64::max);
        let median = row.instructions.get(kernel)?;
        Some((most - least) / median * 100.0)
    };
    row.samples.iter().filter_map(of).fold(0.0, f64::max)
}

/// Programs and modes above the goal.
fn missed(programs: &[Row]) -> Vec<String> {
    let missed = programs.iter().flat_map(|row| {
        let modes = row.instructions.keys();
        let above = |it: &&String| row.added(it).is_some_and(|it| it > row.goal_percent);
        modes
            .filter(above)
            .map(|mode| format!("{} ({mode})", row.name))
    });
    missed.collect()
}

fn cell(figure: Option<f64>, cell: impl Fn(f64) -> String) -> String {
    figure.map_or("-".into(), cell)
}

impl Record for Programs {
    fn text(&self) -> String {
        let modes = self.programs.first().map(|it| it.calls.keys());
        let modes: Vec<&String> = modes.into_iter().flatten().collect();
        let mut header = vec!["program".to_owned(), "unit".into(), NATIVE.into()];
        for mode in &modes {
            header.extend([(*mode).clone(), format!("calls, {mode}")]);
        }
        header.extend(["spread".into(), "goal".into()]);
        let rows = self.programs.iter().map(|row| {
            let native = row.instructions.get(NATIVE).copied();
            let native = cell(native, |it| rounded(it, 0));
            let mut cells = vec![row.name.clone(), row.unit.clone(), native];
            for mode in &modes {
                cells.push(cell(row.added(mode), |it| format!("{it:+.2} %")));
                let calls = row.calls.get(*mode).copied();
                cells.push(cell(calls, |it| rounded(it, 2)));
            }
            cells.push(format!("{:.2} %", spread(row)));
            cells.push(format!("{:.0} %", row.goal_percent));
            cells
        });
        let mut text = String::new();
        if !self.programs.is_empty() {
            text += &table(2, header, rows).to_string();
        }
        let missed = missed(&self.programs);
        if !missed.is_empty() {
            text += &format!("\n\nabove the goal: {}", missed.join(", "));
        }
        if let Some(row) = self.stress.first() {
            let gap = if self.programs.is_empty() { "" } else { "\n\n" };
            let (unit, table) = (&row.unit, stress::table(&self.stress));
            text += &format!("{gap}{unit}; no statement about hardware\n{table}");
        }
        text
    }

    /// Fails if a mode adds more to a program than its goal.
    fn check(&self) -> Result<()> {
        let missed = missed(&self.programs);
        ensure!(missed.is_empty(), "above the goal: {}", missed.join(", "));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::list::PROGRAMS;

    #[test]
    fn what_is_above_its_goal_is_named() {
        let mut row = row(&PROGRAMS[0]);
        for (kernel, figure) in [(NATIVE, 1000.0), ("asid", 1005.0), ("tlbi", 1011.0)] {
            let samples = [990.0, 20.0, 1.0].map(|more| Sample {
                instructions: figure - 20.0 + more,
                calls: 0.25,
            });
            add_samples(&mut row, kernel, &samples);
        }
        assert_eq!(row.instructions["asid"], 1005.0);
        assert_eq!(spread(&row), 98.9);
        let record = Programs {
            programs: vec![row],
            ..Programs::default()
        };
        let text = record.text();
        assert!(text.contains("+0.50 %"), "{text}");
        assert!(text.contains("+1.10 %"), "{text}");
        assert!(
            text.ends_with("above the goal: sqlite3 insert (tlbi)"),
            "{text}"
        );
        let error = record.check().expect_err("a goal is missed").to_string();
        assert_eq!(error, "above the goal: sqlite3 insert (tlbi)");
        let mut within = record;
        within.programs[0].instructions.remove("tlbi");
        within.check().expect("every goal is met");
    }
}
