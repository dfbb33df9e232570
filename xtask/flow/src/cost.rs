// SPDX-License-Identifier: MIT OR Apache-2.0
//! What instrumentation costs: instructions, and bytes of the log.

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::build::{Build, Target, build};
use crate::execute::{Input, execute, instructions};

/// What a program costs.
#[derive(Clone, Debug)]
pub struct Cost {
    /// Its name.
    pub name: String,
    /// Instructions of the plain program.
    pub plain: u64,
    /// Instructions of the instrumented program.
    pub instrumented: u64,
    /// Words of its log.
    pub words: u64,
}

impl Cost {
    /// Returns how many instructions the instrumented program has for each plain one.
    #[allow(clippy::cast_precision_loss)]
    pub fn ratio(&self) -> f64 {
        self.instrumented as f64 / self.plain as f64
    }

    /// Returns the bytes of the log for each plain instruction.
    #[allow(clippy::cast_precision_loss)]
    pub fn bytes(&self) -> f64 {
        8.0 * self.words as f64 / self.plain as f64
    }
}

/// Builds a program both ways, compares results, checks the log and counts.
///
/// # Errors
///
/// If building or running fails, results differ, or the log is wrong.
pub fn cost(path: &Path, input: &Input, folder: &Path) -> Result<Cost> {
    let name = path.file_stem().context("the path has no name")?;
    let name = name.to_string_lossy().into_owned();
    let build = |is_instrumented: bool| {
        let kind = if is_instrumented { "flow" } else { "plain" };
        let what = Build {
            path,
            target: Target::Process,
            is_instrumented,
        };
        build(&what, &folder.join(format!("{name}-{kind}")))
    };
    let (plain, flow) = (build(false)?, build(true)?);
    let outcome = execute(&flow, input)?;
    let expected = execute(&plain, input)?;
    ensure!(
        outcome.result[0] == expected.result[0],
        "{name} has the result {:#x} with instrumentation and {:#x} without",
        outcome.result[0],
        expected.result[0]
    );
    outcome.check(input.state).with_context(|| name.clone())?;
    Ok(Cost {
        plain: instructions(&plain, input)?,
        instrumented: instructions(&flow, input)?,
        words: outcome.log.len() as u64,
        name,
    })
}

/// The costs of several programs, which are printed with their geometric mean.
#[derive(Clone, Debug)]
pub struct Table(pub Vec<Cost>);

impl Table {
    /// Returns the geometric mean of the ratios of all programs.
    #[allow(clippy::cast_precision_loss)]
    pub fn mean(&self) -> f64 {
        let sum: f64 = self.0.iter().map(|it| it.ratio().ln()).sum();
        (sum / self.0.len() as f64).exp()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["program", "plain", "flow", "cost", "log bytes/instr"];
        let [name, plain, flow, cost, bytes] = head;
        writeln!(
            out,
            "{name:<20} {plain:>11} {flow:>11} {cost:>8} {bytes:>15}"
        )?;
        for it in &self.0 {
            writeln!(
                out,
                "{:<20} {:>11} {:>11} {:>+7.1}% {:>15.4}",
                it.name,
                it.plain,
                it.instrumented,
                100.0 * (it.ratio() - 1.0),
                it.bytes()
            )?;
        }
        writeln!(
            out,
            "{:<20} {:>11} {:>11} {:>+7.1}%",
            "geometric mean",
            "",
            "",
            100.0 * (self.mean() - 1.0)
        )
    }
}
