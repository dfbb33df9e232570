// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask attack gate`: the gate against everything that can be in registers and in
//! `TCR_EL1` when a CPU jumps into it.
//!
//! A machine is booted, stopped behind the hand-over, and put back to that moment for each run.
//! From outside, all memory that Linux can write is filled with hostile descriptors and code, and
//! the CPU is started at a word of gate or vectors with hostile registers, an ERET as the last
//! instruction before. Then it goes step by step, and every instruction is held against the rules
//! of `oracle`. A hang passes, a stop passes; one instruction of another page while `TCR_EL1`
//! is not the outer value does not.

mod command;
mod hostile_memory;
mod launch;
mod map;
mod one;
mod oracle;
mod ram;
mod report;
mod session;
mod states;
mod values;

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use donjon_abi::tcr::OUTER;
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::kernel::Variant;
use donjon_builder::run;
use donjon_machine::arguments::{Dma, MachineArguments, Switch};
use donjon_machine::machine::Machine;

use super::Without;
use super::attempt::Attack;
use super::record::Record;

pub use command::run as run_command;
pub use oracle::Breach;
pub use report::Summary;
use session::HostileMemory;
use states::Starts;

/// CPU models without and with FEAT_HPDS, FEAT_LVA and FEAT_LPA2. Runs are shared out among them.
pub const CPUS: [&str; 2] = ["cortex-a57", "max"];
/// Seed of the tests.
pub const SEED: u64 = 0x6d6f_6e6a_6f6e;

/// What to run.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    /// The host.
    pub host: &'a HostArguments,
    /// How the inner domain is entered.
    pub mode: Switch,
    /// What it is built without.
    pub without: Without,
    /// CPU models.
    pub cpus: &'a [&'a str],
    /// How many runs.
    pub runs: u64,
    /// What registers follow from.
    pub seed: u64,
    /// Give up the rest after so long.
    pub time: Option<Duration>,
    /// Stop at the first that is not good.
    pub first: bool,
    /// Only forged geometries, with or without hostile tables in the table block's zero pages.
    pub geometry: Option<bool>,
}

impl<'a> Plan<'a> {
    /// `runs` of a mode, with all protections on.
    pub const fn new(host: &'a HostArguments, mode: Switch, runs: u64) -> Self {
        Self {
            host,
            mode,
            without: Without::NOTHING,
            cpus: &CPUS,
            runs,
            seed: SEED,
            time: None,
            first: false,
            geometry: None,
        }
    }

    /// Carries the runs out; `note` hears how many there have been.
    pub fn carry_out(&self, note: impl Fn(u64)) -> Result<Summary> {
        let mut summary = Summary::new(self.mode, self.seed);
        let models = self.cpus.len() as u64;
        for (number, cpu) in (0..).zip(self.cpus) {
            let runs = self.runs * (number + 1) / models - self.runs * number / models;
            let time = self.time.map(|it| it / self.cpus.len() as u32);
            let done = self.on(cpu, runs, time, number, &mut summary, &note);
            done.map_err(|error| match self.is_sound() {
                true => summary.before(error),
                false => error,
            })?;
        }
        Ok(summary)
    }

    /// Whether nothing may get out.
    fn is_sound(&self) -> bool {
        self.without == Without::NOTHING && self.geometry != Some(true)
    }

    fn on(
        &self,
        cpu: &str,
        runs: u64,
        time: Option<Duration>,
        number: u64,
        summary: &mut Summary,
        note: &impl Fn(u64),
    ) -> Result<()> {
        let machine = Machine::new(&MachineArguments {
            cpu: Some(cpu.to_owned()),
            cpus: Some(1),
            memory: Some("256M".into()),
            // Memory becomes hostile when the guest has given its devices up, which is seen in
            // their registers over MMIO.
            dma: Some(Dma::Open),
            ..MachineArguments::virt(self.mode)
        })?;
        let inner = InnerVariant::without(self.mode, self.without.inner);
        let linux = self
            .without
            .linux
            .map_or(Variant::Donjon, Variant::Weakened);
        let mut parts = run::prepare_over(self.host, machine, &inner, linux)?;
        let place = if self.geometry == Some(true) {
            HostileMemory::TableBlock
        } else {
            HostileMemory::Ordinary
        };
        session::with(&mut parts, place, |session| {
            let begin = Instant::now();
            // A gate that is known to be weak may have left another one.
            ensure!(
                self.first || session.outside == OUTER,
                "the outer domain stands with TCR_EL1 {:#x}",
                session.outside
            );
            summary.frames = session.hostile.frames;
            summary.hostile = session.hostile.instruction();
            let mut starts = Starts::new(self.seed, number, &session.map, session.outer);
            if self.geometry.is_some() {
                starts = starts.only_geometries();
            }
            for _ in 0..runs {
                let late = time.is_some_and(|it| begin.elapsed() >= it);
                if late || self.first && !summary.is_good() {
                    break;
                }
                session.restore()?;
                let start = starts.next();
                let run = one::run(session, &start, self.mode == Switch::Tlbi)?;
                summary.add(cpu, &start, &run);
                note(summary.runs);
            }
            Ok(())
        })
    }
}

/// Runs of each mode that stand for the whole among the other attacks.
const RUNS: u64 = 500;

/// A short one, as one of the attacks.
pub fn record(attack: &Attack, host: &HostArguments, mode: Switch) -> Record {
    let mut record = Record::new(attack, mode);
    match Plan::new(host, mode, RUNS).carry_out(|_| ()) {
        Ok(summary) => {
            record.attempts = summary.runs as usize;
            record.by.push(format!(
                "{} runs, {} with a forged value, {} escapes",
                summary.runs, summary.forged, summary.escapes
            ));
            if !summary.is_good() || summary.forged == 0 {
                record.fail(summary.to_string());
            }
        }
        Err(error) => record.fail(format!("{error:#}")),
    }
    record
}
