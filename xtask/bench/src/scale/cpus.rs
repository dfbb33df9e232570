// SPDX-License-Identifier: MIT OR Apache-2.0
//! A fixed amount of work on each of several CPUs.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use donjon_builder::run::Parts;
use donjon_machine::arguments::{MachineArguments, Switch};
use serde::Serialize;

use super::guests::Guests;
use crate::stress::{self, Figures, Work};

/// How often each CPU does the work.
const TIMES: u32 = 1;

/// What the work took on a number of CPUs.
#[derive(Clone, Debug, Serialize)]
pub struct Cpus {
    /// How many.
    pub cpus: u32,
    /// Over the native kernel.
    pub native: Time,
    /// In each mode.
    pub modes: BTreeMap<String, Contended>,
}

/// Time of the emulator.
#[derive(Clone, Debug, Serialize)]
pub struct Time {
    /// Milliseconds of QEMU's wall time for the whole work.
    pub wall_milliseconds: f64,
    /// By kind of work.
    pub kinds: Figures,
}

/// Time, and what CPUs waited for.
#[derive(Clone, Debug, Serialize)]
pub struct Contended {
    /// Time.
    #[serde(flatten)]
    pub time: Time,
    /// Calls of the inner domain.
    pub calls: f64,
    /// How often a CPU looked at a lock and found it held, by kind of lock.
    pub waits: Figures,
}

impl Contended {
    /// Looks at a held lock for each call.
    pub fn waits_of_a_call(&self) -> f64 {
        self.waits.values().sum::<f64>() / self.calls
    }
}

/// The machine with `cpus` CPUs.
pub fn machine(switch: Switch, cpus: u32) -> MachineArguments {
    stress::machine(switch, cpus, false)
}

/// Has all CPUs work over a kernel, and adds that to `all`.
pub fn measure(
    parts: &Parts,
    kernel: &str,
    guests: &mut Guests<'_>,
    all: &mut Vec<Cpus>,
) -> Result<()> {
    let cpus = parts.boot.machine.cpus;
    let title = format!("work of {cpus} CPUs ({kernel})");
    let command = stress::command(cpus, TIMES);
    let work = (command.as_str(), stress::TIMEOUT);
    let work = guests.next(&title, &parts.boot, work, Work::read)?;
    let time = Time {
        wall_milliseconds: work.milliseconds.values().sum(),
        kinds: work.milliseconds,
    };
    let Some((calls, waits)) = work.inside else {
        all.push(Cpus {
            cpus,
            native: time,
            modes: BTreeMap::new(),
        });
        return Ok(());
    };
    let row = all.iter_mut().find(|it| it.cpus == cpus);
    let row = row.context("the native kernel is measured first")?;
    let contended = Contended { time, calls, waits };
    row.modes.insert(kernel.into(), contended);
    Ok(())
}
