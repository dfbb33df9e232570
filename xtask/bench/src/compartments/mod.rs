// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench compartments`: the same work in a compartment and in a process, in
//! instructions.
//!
//! One CPU, `-icount`, 4 GiB; searches of memory have a machine of their own, in `scrape`.
//! docs/compartments.md says what is measured.

pub mod call;
mod cpu;
mod csv;
mod goal;
pub mod libraries;
pub mod lines;
mod memory;
mod number;
mod pipe;
pub mod scrape;
mod trust;

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use anyhow::Result;
use comfy_table::Table;
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::environment::{self, Needs};
use donjon_builder::json;
use donjon_builder::progress::Step;
use donjon_builder::run;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::finding::Finding;
use donjon_machine::machine::Machine;
use serde::Serialize;

use crate::arguments::{CompartmentsArguments, Experiment};
use crate::{CPU, markdown, output_of, virt};

use goal::Goal;

const MEMORY: &str = "4G";
/// Size of the reserve for compartments: one has 1,000 MB, and 10,000 have 9 frames each.
const PROTECTED: &str = "1100M";
const UNIT: &str = "instructions (-icount shift=0)";
const TIMEOUT: Duration = Duration::from_secs(3600);

/// What was measured.
#[derive(Debug, Serialize)]
pub struct Report {
    /// What figures count.
    pub unit: &'static str,
    /// Model of the CPU.
    pub cpu: &'static str,
    /// Release of Linux.
    pub linux: String,
    /// Many compartments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<number::Number>,
    /// Messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipe: Option<pipe::Pipes>,
    /// Memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<memory::Sizes>,
    /// Computing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_loops: Option<cpu::Loops>,
    /// Calls, and wiping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<call::Calls>,
    /// Who can read memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<trust::Trust>,
    /// Searches while messages are exchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub libraries: Option<libraries::Libraries>,
    /// What should be so.
    pub goals: Vec<Goal>,
}

/// Measures and prints.
pub fn run(arguments: &CompartmentsArguments) -> Result<()> {
    json::can_write(arguments.json.as_deref())?;
    let report = measure(arguments)?;
    println!("{report}");
    json::write(arguments.json.as_deref(), &report)?;
    match &arguments.csv {
        Some(directory) => csv::write(directory, &report),
        None => Ok(()),
    }
}

/// Measures what the arguments name, or everything.
pub fn measure(arguments: &CompartmentsArguments) -> Result<Report> {
    let mut report = Report {
        unit: UNIT,
        cpu: CPU,
        linux: String::new(),
        number: None,
        pipe: None,
        memory: None,
        cpu_loops: None,
        call: None,
        trust: None,
        libraries: None,
        goals: Vec::new(),
    };
    environment::prepare(&arguments.host, Needs::default())?;
    let (host, quick) = (&arguments.host, arguments.quick);
    let mut linux = String::new();
    for experiment in Experiment::ALL {
        if !arguments.experiments.is_empty() && !arguments.experiments.contains(&experiment) {
            continue;
        }
        let mut said = |command: &str| guest(host, experiment, command, &mut linux);
        match experiment {
            Experiment::Number => {
                let it = number::Number::of(&said(&number::command(quick))?)?;
                report.goals.extend(it.goals());
                report.number = Some(it);
            }
            Experiment::Pipe => {
                let it = pipe::Pipes::of(&said(&pipe::command())?)?;
                report.goals.extend(it.goals());
                report.pipe = Some(it);
            }
            Experiment::Memory => {
                let it = memory::Sizes::of(&said(&memory::command(quick))?)?;
                report.goals.extend(it.goals());
                report.memory = Some(it);
            }
            Experiment::Cpu => {
                let it = cpu::Loops::of(&said(&cpu::command(quick))?)?;
                report.goals.extend(it.goals());
                report.cpu_loops = Some(it);
            }
            Experiment::Call => {
                let it = call::Calls::of(&said(&call::command())?)?;
                report.goals.extend(it.goals());
                report.call = Some(it);
            }
            Experiment::Trust => {
                let it = trust::measure(host, &mut linux)?;
                report.goals.extend(it.goals());
                report.trust = Some(it);
            }
            Experiment::Libraries => {
                let inner = InnerVariant::sound(Switch::Asid);
                let seconds = arguments.seconds();
                let it = libraries::measure(host, &inner, seconds, &mut linux)?;
                report.goals.extend(it.goals());
                report.libraries = Some(it);
            }
        }
    }
    report.linux = linux;
    Ok(report)
}

/// What a command prints in a guest of its own.
fn guest(
    host: &HostArguments,
    experiment: Experiment,
    command: &str,
    linux: &mut String,
) -> Result<String> {
    let machine = Machine::new(&MachineArguments {
        memory: Some(MEMORY.into()),
        protected: Some(PROTECTED.into()),
        ..virt(CPU, Switch::Asid, true)
    })?;
    let parts = run::prepare(host, machine, &InnerVariant::sound(Switch::Asid))?;
    linux.clone_from(&parts.kernel.release);
    let step = Step::spinner(format!("measure {}", experiment.name()));
    let text = output_of(&parts.boot, command, TIMEOUT)?;
    step.vanish();
    Ok(text)
}

impl Report {
    /// Fails if a goal is missed.
    ///
    /// # Errors
    ///
    /// The goals that are.
    pub fn check(&self) -> Result<()> {
        let missed = self.goals.iter().filter(|it| !it.is_met);
        let missed: Vec<String> = missed.map(ToString::to_string).collect();
        if missed.is_empty() {
            return Ok(());
        }
        Err(Finding::Figures.error(missed.join("\n")))
    }
}

impl Report {
    /// Tables of what was counted.
    fn counted(&self) -> Vec<(&'static str, Table)> {
        let tables = [
            (
                "compartments at once",
                self.number.as_ref().map(number::Number::table),
            ),
            (
                "a message of 1024 bytes",
                self.pipe.as_ref().map(pipe::Pipes::table),
            ),
            (
                "memory, instructions for each page",
                self.memory.as_ref().map(memory::Sizes::table),
            ),
            ("computing", self.cpu_loops.as_ref().map(cpu::Loops::table)),
            (
                "calls, and wiping",
                self.call.as_ref().map(call::Calls::table),
            ),
        ];
        present(tables)
    }

    /// Tables of searches.
    fn searched(&self) -> Vec<(&'static str, Table)> {
        let tables = [
            (
                "who can read messages",
                self.trust.as_ref().map(trust::Trust::table),
            ),
            (
                "a search while messages are exchanged",
                self.libraries.as_ref().map(libraries::Libraries::table),
            ),
        ];
        present(tables)
    }
}

fn present<const COUNT: usize>(
    tables: [(&'static str, Option<Table>); COUNT],
) -> Vec<(&'static str, Table)> {
    let tables = tables.into_iter();
    tables
        .filter_map(|(title, it)| Some((title, it?)))
        .collect()
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { unit, cpu, .. } = self;
        write!(f, "Linux {}, {cpu}", self.linux)?;
        for (what, tables) in [
            (
                format!("{unit}; 1 CPU, {MEMORY}, --protected {PROTECTED}"),
                self.counted(),
            ),
            (scrape::machine(), self.searched()),
        ] {
            if !tables.is_empty() {
                write!(f, "\n\n{what}")?;
            }
            for (title, table) in tables {
                write!(f, "\n\n{title}:\n\n{table}")?;
            }
        }
        writeln!(f)?;
        for goal in &self.goals {
            write!(f, "\n{goal}")?;
        }
        Ok(())
    }
}

/// A table whose first column are words and the others numbers.
pub fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Table {
    markdown::table(1, header.to_vec(), rows)
}
