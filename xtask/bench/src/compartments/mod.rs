// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench compartments`: the same work in a compartment and in a process, in
//! instructions.
//!
//! One CPU, `-icount`, 4 GiB; searches of memory have a machine of their own, in `scrape`.
//! docs/compartments.md says what is measured.

pub mod call;
mod cpu;
mod csv;
pub mod goal;
pub mod libraries;
pub mod lines;
mod memory;
mod number;
mod pipe;
pub mod scrape;
mod trust;

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use clap::ValueEnum;
use comfy_table::Table;
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::environment::{self, Needs};
use donjon_builder::json;
use donjon_figures::records::compartments::{Compartments, Goal};
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::finding::Finding;

use crate::arguments::{CompartmentsArguments, Experiment};
use crate::guest::{CPU, prepare, said, virt};
use crate::{Record, show};

const MEMORY: &str = "4G";
/// Size of the reserve for compartments: one has 1,000 MB, and 10,000 have 9 frames each.
const PROTECTED: &str = "1100M";
const TIMEOUT: Duration = Duration::from_secs(3600);

/// Figures of an experiment.
pub trait Measured: Sized {
    /// Reads what a guest printed.
    ///
    /// # Errors
    ///
    /// If something is missing.
    fn of(text: &str) -> Result<Self>;

    /// Lists what should be so.
    fn goals(&self) -> Vec<Goal>;

    /// Lays the figures out as a table.
    fn table(&self) -> Table;
}

/// Measures and prints.
pub fn run(arguments: &CompartmentsArguments) -> Result<()> {
    let json = arguments.json.as_deref();
    json::can_write(json)?;
    let record = measure(arguments)?;
    show(&record, json)?;
    let folder: Option<&Path> = arguments.csv.as_deref();
    folder.map_or(Ok(()), |folder| csv::write(folder, &record))
}

/// Measures what the arguments name, or everything.
pub fn measure(arguments: &CompartmentsArguments) -> Result<Compartments> {
    environment::prepare(&arguments.host, Needs::default())?;
    let mut all = Compartments {
        unit: "instructions (-icount shift=0)".into(),
        cpu: CPU.into(),
        ..Compartments::default()
    };
    let (host, quick) = (&arguments.host, arguments.quick);
    let is_named =
        |it: &Experiment| arguments.experiments.is_empty() || arguments.experiments.contains(it);
    for experiment in Experiment::value_variants()
        .iter()
        .copied()
        .filter(is_named)
    {
        let (goals, linux) = (&mut all.goals, &mut all.linux);
        let mut said = |command: &str| guest(host, experiment, command, linux);
        match experiment {
            Experiment::Number => {
                let said = said(&number::command(quick))?;
                all.number = Some(with_goals(Measured::of(&said)?, goals));
            }
            Experiment::Pipe => {
                let said = said(&pipe::command())?;
                all.pipe = Some(with_goals(Measured::of(&said)?, goals));
            }
            Experiment::Memory => {
                let said = said(&memory::command(quick))?;
                all.memory = Some(with_goals(Measured::of(&said)?, goals));
            }
            Experiment::Cpu => {
                let said = said(&cpu::command(quick))?;
                all.cpu_loops = Some(with_goals(Measured::of(&said)?, goals));
            }
            Experiment::Call => {
                let said = said(&call::command())?;
                all.call = Some(with_goals(Measured::of(&said)?, goals));
            }
            Experiment::Trust => {
                all.trust = Some(with_goals(trust::measure(host, linux)?, goals));
            }
            Experiment::Libraries => {
                let inner = InnerVariant::sound(Switch::Asid);
                let found = libraries::measure(host, &inner, arguments.seconds(), linux)?;
                all.libraries = Some(with_goals(found, goals));
            }
        }
    }
    Ok(all)
}

/// The figures, whose goals are added.
fn with_goals<T: Measured>(figures: T, goals: &mut Vec<Goal>) -> T {
    goals.extend(figures.goals());
    figures
}

/// What a command prints in a guest of its own.
fn guest(
    host: &HostArguments,
    experiment: Experiment,
    command: &str,
    linux: &mut String,
) -> Result<String> {
    let machine = MachineArguments {
        memory: Some(MEMORY.into()),
        protected: Some(PROTECTED.into()),
        ..virt(CPU, Switch::Asid, true)
    };
    let parts = prepare(host, &machine)?;
    linux.clone_from(&parts.kernel.release);
    let title = format!("measure {}", experiment.name());
    said(&parts.boot, &title, command, TIMEOUT)
}

impl Record for Compartments {
    fn text(&self) -> String {
        fn table(it: &Option<impl Measured>) -> Option<Table> {
            it.as_ref().map(Measured::table)
        }
        let counted = vec![
            ("compartments at once", table(&self.number)),
            ("a message of 1024 bytes", table(&self.pipe)),
            ("memory, instructions for each page", table(&self.memory)),
            ("computing", table(&self.cpu_loops)),
            ("calls, and wiping", table(&self.call)),
        ];
        let searched = vec![
            ("who can read messages", table(&self.trust)),
            (
                "a search while messages are exchanged",
                table(&self.libraries),
            ),
        ];
        let counts = format!("{}; 1 CPU, {MEMORY}, --protected {PROTECTED}", self.unit);
        let mut text = format!("Linux {}, {}", self.linux, self.cpu);
        for (what, tables) in [(counts, counted), (scrape::machine(), searched)] {
            if tables.iter().any(|it| it.1.is_some()) {
                text += &format!("\n\n{what}");
            }
            for (title, table) in tables {
                text.extend(table.map(|it| format!("\n\n{title}:\n\n{it}")));
            }
        }
        text.push('\n');
        text.extend(self.goals.iter().map(|it| format!("\n{}", goal::line(it))));
        text
    }

    /// Fails if a goal is missed.
    fn check(&self) -> Result<()> {
        let missed = self.goals.iter().filter(|it| !it.is_met);
        let missed: Vec<String> = missed.map(goal::line).collect();
        if missed.is_empty() {
            return Ok(());
        }
        Err(Finding::Figures.error(missed.join("\n")))
    }
}
