// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs of the paper's figure 5 in four builds, and with all that a host does.

use anyhow::{Result, ensure};
use comfy_table::Table;
use serde::{Serialize, Serializer};

use super::programs::{FOLDER, NAMES};
use crate::compartments::lines::{self, median};
use crate::compartments::table;

/// Instructions of a run, about, and trials.
const QUICK: (u64, u64) = (2_000_000, 1);
const FULL: (u64, u64) = (40_000_000, 3);

/// What the guest runs.
pub fn command(quick: bool) -> String {
    let (instructions, trials) = if quick { QUICK } else { FULL };
    format!(
        "donjon-flow fig5 {instructions} {trials} {FOLDER} {}",
        NAMES.join(" ")
    )
}

/// A ratio of geometric means, what the paper has, and the most that it may be: percent more.
pub struct Row {
    /// What is compared.
    pub name: &'static str,
    /// Measured.
    pub percent: f64,
    /// In the paper.
    pub seed: Option<f64>,
    /// The most that it may be.
    pub most: Option<f64>,
}

/// All programs. Percentages are of geometric means over the programs.
#[derive(Debug, Serialize)]
pub struct Fig5 {
    /// Without instrumentation, in a compartment against a process.
    pub plain_inside_over_outside_percent: f64,
    /// In a process, with instrumentation against without.
    pub instrumented_over_plain_percent: f64,
    /// With instrumentation, in a compartment under flow attestation against a process.
    pub instrumented_inside_over_outside_percent: f64,
    /// In a compartment, with instrumentation against without.
    pub instrumented_inside_over_plain_inside_percent: f64,
    /// A run with all that it takes, against a process without instrumentation: the log kept and
    /// hashed by the CPU's instructions for SHA-256.
    pub all_in_sha_percent: f64,
    /// With SHA-256 without such instructions.
    pub all_in_software_percent: f64,
    /// Bytes of log for each instruction of the program without instrumentation.
    pub log_bytes_per_instruction: f64,
    /// Each program.
    #[serde(serialize_with = "by_name")]
    pub programs: Vec<Program>,
}

/// A program: medians of instructions.
#[derive(Debug, Serialize)]
pub struct Program {
    /// Name of the program.
    #[serde(skip)]
    pub name: &'static str,
    /// Repetitions of its work.
    pub repetitions: u64,
    /// In a process, without instrumentation.
    pub plain_outside: f64,
    /// In a compartment, without.
    pub plain_inside: f64,
    /// In a process, with instrumentation.
    pub instrumented_outside: f64,
    /// In a compartment under flow attestation.
    pub instrumented_inside: f64,
    /// With the log kept and hashed, by the CPU's instructions for SHA-256.
    pub all_in_sha: f64,
    /// With the log kept and hashed without such instructions.
    pub all_in_software: f64,
    /// Words of the log.
    pub words: f64,
}

fn by_name<S: Serializer>(programs: &[Program], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(programs.iter().map(|it| (it.name, it)))
}

impl Program {
    fn of(text: &str, name: &'static str) -> Result<Self> {
        let rows: Vec<[u64; 9]> = lines::rows(text, name)?;
        let column = |at: usize| median(rows.iter().map(|it| it[at]));
        let program = Self {
            name,
            repetitions: rows[0][1],
            plain_outside: column(2),
            plain_inside: column(3),
            instrumented_outside: column(4),
            instrumented_inside: column(5),
            all_in_sha: column(6),
            all_in_software: column(7),
            words: column(8),
        };
        ensure!(program.plain_outside > 0.0, "{name} took no instruction");
        Ok(program)
    }
}

impl Fig5 {
    /// Reads what the guest printed.
    pub fn of(text: &str) -> Result<Self> {
        let programs = NAMES.into_iter().map(|name| Program::of(text, name));
        let programs: Vec<Program> = programs.collect::<Result<_>>()?;
        let percent = |of: fn(&Program) -> f64| (mean(&programs, of) - 1.0) * 100.0;
        Ok(Self {
            plain_inside_over_outside_percent: percent(|it| it.plain_inside / it.plain_outside),
            instrumented_over_plain_percent: percent(|it| {
                it.instrumented_outside / it.plain_outside
            }),
            instrumented_inside_over_outside_percent: percent(|it| {
                it.instrumented_inside / it.instrumented_outside
            }),
            instrumented_inside_over_plain_inside_percent: percent(|it| {
                it.instrumented_inside / it.plain_inside
            }),
            all_in_sha_percent: percent(|it| it.all_in_sha / it.plain_outside),
            all_in_software_percent: percent(|it| it.all_in_software / it.plain_outside),
            log_bytes_per_instruction: mean(&programs, |it| 8.0 * it.words / it.plain_outside),
            programs,
        })
    }

    /// The ratios beside the paper's.
    pub fn rows(&self) -> [Row; 6] {
        let row = |name, percent, seed, most| Row {
            name,
            percent,
            seed,
            most,
        };
        [
            row(
                "inside over outside, plain",
                self.plain_inside_over_outside_percent,
                Some(1.67),
                Some(0.10),
            ),
            row(
                "instrumented over plain, outside",
                self.instrumented_over_plain_percent,
                Some(59.88),
                Some(40.0),
            ),
            row(
                "instrumented over plain, inside",
                self.instrumented_inside_over_plain_inside_percent,
                Some(62.99),
                None,
            ),
            row(
                "inside over outside, instrumented",
                self.instrumented_inside_over_outside_percent,
                Some(1.94),
                Some(0.30),
            ),
            row(
                "all in, SHA extension",
                self.all_in_sha_percent,
                None,
                Some(59.88),
            ),
            row(
                "all in, SHA in software",
                self.all_in_software_percent,
                None,
                None,
            ),
        ]
    }

    /// The programs as a table.
    pub fn table(&self) -> Table {
        let rows = self.programs.iter().map(|it| {
            let more = |figure: f64, base: f64| format!("{:+.2} %", (figure / base - 1.0) * 100.0);
            vec![
                it.name.to_owned(),
                format!("{:.0}", it.plain_outside),
                more(it.plain_inside, it.plain_outside),
                more(it.instrumented_outside, it.plain_outside),
                more(it.instrumented_inside, it.instrumented_outside),
                more(it.all_in_sha, it.plain_outside),
                more(it.all_in_software, it.plain_outside),
                format!("{:.4}", 8.0 * it.words / it.plain_outside),
            ]
        });
        table(
            &[
                "program",
                "plain",
                "inside",
                "instrumented",
                "inside",
                "all in",
                "in software",
                "log bytes/instr",
            ],
            rows,
        )
    }
}

/// The geometric mean.
fn mean(programs: &[Program], of: impl Fn(&Program) -> f64) -> f64 {
    let sum: f64 = programs.iter().map(|it| of(it).ln()).sum();
    (sum / programs.len() as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_of_geometric_means() {
        let text: String = NAMES
            .iter()
            .enumerate()
            .map(|(at, name)| {
                // One program costs twice as much as the others' +25 %.
                let flow = if at == 0 { 2500 } else { 1250 };
                format!("{name}: 1 7 1000 1001 {flow} {flow} 1400 3000 5\n")
            })
            .collect();
        let fig5 = Fig5::of(&text).expect("complete");
        assert!((fig5.plain_inside_over_outside_percent - 0.1).abs() < 1e-9);
        let expected = (1.25 * 2_f64.powf(1.0 / 15.0) - 1.0) * 100.0;
        assert!((fig5.instrumented_over_plain_percent - expected).abs() < 1e-9);
        assert!((fig5.all_in_sha_percent - 40.0).abs() < 1e-9);
        assert!((fig5.log_bytes_per_instruction - 0.04).abs() < 1e-9);
        let json = serde_json::to_value(&fig5).expect("a document");
        assert_eq!(json["programs"]["tarfind"]["repetitions"], 7);
        let text = text.replace("tarfind", "other");
        assert!(Fig5::of(&text).is_err());
    }
}
