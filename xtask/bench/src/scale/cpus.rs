// SPDX-License-Identifier: MIT OR Apache-2.0
//! A fixed amount of work on each of several CPUs.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use donjon_builder::run::Parts;
use donjon_figures::records::scale::{Contended, Cpus, Time};
use donjon_machine::arguments::{MachineArguments, Switch};

use super::guests::Guests;
use crate::guest::{CPU, with_cpus};
use crate::stress::{self, Work};

/// How often each CPU does the work.
const TIMES: u32 = 1;

/// Looks at a held lock for each call.
pub fn waits_of_a_call(contended: &Contended) -> f64 {
    contended.waits.values().sum::<f64>() / contended.calls
}

/// The machine with `cpus` CPUs.
pub fn machine(switch: Switch, cpus: u32) -> MachineArguments {
    with_cpus(CPU, switch, cpus)
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
