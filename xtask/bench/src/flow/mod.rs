// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench flow`: what flow attestation costs, in instructions.
//!
//! One CPU, `-icount`. docs/flow-attestation.md says what is measured.

mod fig5;
mod programs;

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use donjon_builder::arguments::HostArguments;
use donjon_builder::environment::{self, Needs};
use donjon_builder::json;
use donjon_builder::run::Parts;
use donjon_figures::records::flow::{Flow, Hash, Log};
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::initramfs;

use crate::arguments::{FlowArguments, FlowPart};
use crate::compartments::lines;
use crate::guest::{CPU, prepare, said, virt};
use crate::table::{rounded, write_csv};
use crate::{Record, show};

pub use programs::{FOLDER, NAMES, files};

const MEMORY: &str = "1G";
const TIMEOUT: Duration = Duration::from_secs(3600);

/// What the guest runs to hash.
const HASH: &str = "donjon-flow hash";
const MIB: f64 = 1_048_576.0;
/// A program with many words.
const SEGMENTED: &str = "sglib-combined";

/// Measures and prints.
pub fn run(arguments: &FlowArguments) -> Result<()> {
    let json = arguments.json.as_deref();
    json::can_write(json)?;
    let record = measure(arguments)?;
    show(&record, json)?;
    let folder = arguments.csv.as_deref();
    folder.map_or(Ok(()), |folder| csv(folder, &record))
}

/// Measures what the arguments name, or everything.
pub fn measure(arguments: &FlowArguments) -> Result<Flow> {
    let wants = |part| arguments.part.is_none_or(|it| it == part);
    environment::prepare(&arguments.host, Needs::default())?;
    let parts = guest(&arguments.host)?;
    let mut record = Flow {
        unit: "instructions (-icount shift=0)".into(),
        cpu: CPU.into(),
        linux: parts.kernel.release.clone(),
        ..Flow::default()
    };
    let said =
        |what: &str, command: &str| said(&parts.boot, &format!("measure {what}"), command, TIMEOUT);
    if wants(FlowPart::Fig5) {
        let text = said("fig5", &fig5::command(arguments.quick))?;
        record.fig5 = Some(fig5::read(&text)?);
    }
    if wants(FlowPart::Hash) {
        record.hash = Some(hash(&said("hash", HASH)?)?);
    }
    if wants(FlowPart::Log) {
        let command = format!("donjon-flow segments {FOLDER} {SEGMENTED}");
        record.log = Some(log(&said("log", &command)?)?);
    }
    Ok(record)
}

/// A guest with the programs.
fn guest(host: &HostArguments) -> Result<Parts> {
    let files = files()?;
    let machine = MachineArguments {
        memory: Some(MEMORY.into()),
        ..virt(CPU, Switch::Asid, true)
    };
    let mut parts = prepare(host, &machine)?;
    parts.boot.initramfs = initramfs::with_programs(&parts.boot.initramfs, &files)?;
    Ok(parts)
}

/// Reads what hashing the log takes its host.
fn hash(text: &str) -> Result<Hash> {
    let [extension, software] = lines::one(text, "hash")?.map(|it| it as f64 / MIB);
    Ok(Hash {
        sha_extension: extension,
        software,
    })
}

/// Reads what one segment more takes.
fn log(text: &str) -> Result<Log> {
    let [short, many, long, few] = lines::one(text, "segments")?;
    Ok(Log {
        segment: (short as f64 - long as f64) / (many - few) as f64,
        segments: [many, few],
    })
}

/// Writes the programs as values with commas between them.
fn csv(folder: &Path, record: &Flow) -> Result<()> {
    let Some(fig5) = &record.fig5 else {
        return Ok(());
    };
    let rows = fig5.programs.iter().map(|(name, it)| {
        let mut row = vec![name.clone(), it.repetitions.to_string()];
        let figures = [
            it.plain_outside,
            it.plain_inside,
            it.instrumented_outside,
            it.instrumented_inside,
            it.all_in_sha,
            it.all_in_software,
            it.words,
        ];
        row.extend(figures.map(|it| rounded(it, 0)));
        row
    });
    let header = "Program,Repetitions,Plain outside,Plain inside,Instrumented outside,Instrumented \
                  inside,All in (SHA extension),All in (software),Log words";
    write_csv(folder, "fig5", header, rows)
}

impl Record for Flow {
    fn text(&self) -> String {
        let Self {
            unit, cpu, linux, ..
        } = self;
        let mut text = format!("Linux {linux}, {cpu}; {unit}; 1 CPU, {MEMORY}\n");
        if let Some(fig5) = &self.fig5 {
            text += &format!(
                "\n{}\n\n{}\n\nlog: {:.4} bytes for each instruction of the plain program; at \
                 most 0.06\nSulfur's figures are times, and its programs those of Embench. In the \
                 two logs of its FVP the 15 programs take 3.966 times as long with \
                 instrumentation, in both: these logs show no cost of Sulfur itself.\n",
                fig5::programs(fig5),
                fig5::ratios(fig5),
                fig5.log_bytes_per_instruction
            );
        }
        if let Some(hash) = &self.hash {
            text += &format!(
                "SHA-256 of the log by its host: {:.2} instructions a byte with the CPU's \
                 instructions for it, {:.2} without\n",
                hash.sha_extension, hash.software
            );
        }
        if let Some(log) = &self.log {
            text += &format!(
                "a segment of the log: {:.0} instructions besides its bytes ({SEGMENTED}, {} \
                 segments against {})\n",
                log.segment, log.segments[0], log.segments[1]
            );
        }
        text
    }
}
