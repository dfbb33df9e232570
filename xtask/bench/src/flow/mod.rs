// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench flow`: what flow attestation costs, in instructions.
//!
//! One CPU, `-icount`. docs/flow-attestation.md says what is measured.

mod fig5;
mod hash;
mod programs;
mod report;
mod segments;

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::environment::{self, Needs};
use donjon_builder::json;
use donjon_builder::progress::Step;
use donjon_builder::run::{self, Parts};
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::initramfs;
use donjon_machine::machine::Machine;

use crate::arguments::{FlowArguments, FlowPart};
use crate::{CPU, output_of, virt};

pub use programs::{FOLDER, NAMES, files};
pub use report::Report;

const MEMORY: &str = "1G";
const TIMEOUT: Duration = Duration::from_secs(3600);

/// Measures and prints.
pub fn run(arguments: &FlowArguments) -> Result<()> {
    json::can_write(arguments.json.as_deref())?;
    let report = measure(arguments)?;
    println!("{report}");
    json::write(arguments.json.as_deref(), &report)?;
    if let Some(directory) = &arguments.csv {
        report.write_csv(directory)?;
    }
    Ok(())
}

/// Measures what the arguments name, or everything.
pub fn measure(arguments: &FlowArguments) -> Result<Report> {
    let wants = |part| arguments.part.is_none_or(|it| it == part);
    environment::prepare(&arguments.host, Needs::default())?;
    let mut report = Report::new(CPU);
    let parts = guest(&arguments.host)?;
    report.linux.clone_from(&parts.kernel.release);
    if wants(FlowPart::Fig5) {
        let text = said(&parts, "fig5", &fig5::command(arguments.quick))?;
        report.fig5 = Some(fig5::Fig5::of(&text)?);
    }
    if wants(FlowPart::Hash) {
        report.hash = Some(hash::Hash::of(&said(&parts, "hash", hash::COMMAND)?)?);
    }
    if wants(FlowPart::Log) {
        let text = said(&parts, "log", &segments::command())?;
        report.log = Some(segments::Log::of(&text)?);
    }
    Ok(report)
}

/// A guest with the programs.
fn guest(host: &HostArguments) -> Result<Parts> {
    let files = files()?;
    let machine = Machine::new(&MachineArguments {
        memory: Some(MEMORY.into()),
        ..virt(CPU, Switch::Asid, true)
    })?;
    let mut parts = run::prepare(host, machine, &InnerVariant::sound(Switch::Asid))?;
    parts.boot.initramfs = initramfs::with_programs(&parts.boot.initramfs, &files)?;
    Ok(parts)
}

/// What a command prints in a guest.
fn said(parts: &Parts, what: &str, command: &str) -> Result<String> {
    let step = Step::spinner(format!("measure {what}"));
    let text = output_of(&parts.boot, command, TIMEOUT)?;
    step.vanish();
    Ok(text)
}

/// Writes rows of values with commas between them.
fn write_csv(directory: &Path, name: &str, header: &str, rows: &[Vec<String>]) -> Result<()> {
    use anyhow::Context;
    std::fs::create_dir_all(directory)
        .with_context(|| format!("making {}", directory.display()))?;
    let path = directory.join(format!("{name}.csv"));
    let mut text = format!("{header}\n");
    for row in rows {
        text.push_str(&row.join(","));
        text.push('\n');
    }
    std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))
}
