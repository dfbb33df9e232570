// SPDX-License-Identifier: MIT OR Apache-2.0
//! What instrumentation costs: instructions, and bytes of the log.

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::build::{Build, Compiler, Target, build};
use crate::compare::compare;
use crate::execute::{Input, execute, trace};

/// What a program costs.
#[derive(Clone, Debug)]
pub struct Cost {
    /// The program's name.
    pub name: String,
    /// Instructions of the plain program.
    pub plain: u64,
    /// Instructions of the instrumented program.
    pub instrumented: u64,
    /// Words of the program's log.
    pub words: u64,
    /// What the program's call returns.
    pub result: u64,
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

/// Builds a program both ways, compares results, checks program and log, compares the path that
/// the log says with an emulator's trace, and counts.
///
/// # Errors
///
/// If building or running fails, results or paths differ, or the log is wrong.
pub fn cost(path: &Path, compiler: Compiler, input: &Input, folder: &Path) -> Result<Cost> {
    let name = path.file_stem().context("the path has no name")?;
    let name = name.to_string_lossy().into_owned();
    let build = |is_instrumented: bool| {
        let kind = if is_instrumented { "flow" } else { "plain" };
        let what = Build {
            path,
            target: Target::Process,
            is_instrumented,
            compiler,
            has_lines: true,
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
        plain: trace(&plain, input, |_| ())?,
        instrumented: compare(&flow, input, &outcome)?,
        words: outcome.log.len() as u64,
        result: outcome.result[0],
        name,
    })
}

/// The costs of several programs, which are printed with their geometric mean.
#[derive(Clone, Debug)]
pub struct Table(pub Vec<Cost>);

impl Table {
    /// Returns the line above the rows.
    pub fn head() -> String {
        format!(
            "{:<20} {:>11} {:>11} {:>8} {:>15}",
            "program", "plain", "flow", "cost", "log bytes/instr"
        )
    }

    /// Returns the geometric mean of the ratios of all programs.
    pub fn mean(&self) -> f64 {
        self.geometric(Cost::ratio)
    }

    /// Returns the geometric mean of the log's bytes for each plain instruction.
    pub fn bytes(&self) -> f64 {
        self.geometric(Cost::bytes)
    }

    #[allow(clippy::cast_precision_loss)]
    fn geometric(&self, of: impl Fn(&Cost) -> f64) -> f64 {
        let sum: f64 = self.0.iter().map(|it| of(it).ln()).sum();
        (sum / self.0.len() as f64).exp()
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{:<20} {:>11} {:>11} {:>+7.1}% {:>15.4}",
            self.name,
            self.plain,
            self.instrumented,
            100.0 * (self.ratio() - 1.0),
            self.bytes()
        )
    }
}

/// Writes the last line: the geometric means.
impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{:<20} {:>11} {:>11} {:>+7.1}% {:>15.4}",
            "geometric mean",
            "",
            "",
            100.0 * (self.mean() - 1.0),
            self.bytes()
        )
    }
}
