// SPDX-License-Identifier: MIT OR Apache-2.0
//! Guests that are measured, and what they print.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::progress::Step;
use donjon_builder::run::{self, Parts};
use donjon_machine::arguments::{Dma, MachineArguments, Switch, VIRT};
use donjon_machine::board::Finished;
use donjon_machine::machine::Machine;
use donjon_machine::qemu::{self, Stream};

/// The CPU model that is measured unless another is named.
pub const CPU: &str = "cortex-a57";
/// Where a process lies decides how many tables it has. So each run has it at the same place.
pub const PLACES: &str = "echo 0 >/proc/sys/kernel/randomize_va_space";

/// Prepares the boot of a machine, over the inner domain with all protections.
pub fn prepare(host: &HostArguments, machine: &MachineArguments) -> Result<Parts> {
    let inner = InnerVariant::sound(machine.switch);
    run::prepare(host, Machine::new(machine)?, &inner)
}

/// Runs a command in a guest, with a title for those who wait, and gives what it prints.
pub fn said(boot: &qemu::Boot, title: &str, command: &str, timeout: Duration) -> Result<String> {
    let step = Step::spinner(title.to_owned());
    let text = output_of(boot, command, timeout)?;
    step.vanish();
    Ok(text)
}

/// Runs a command in a guest and gives what it prints; an error if it fails.
pub fn output_of(boot: &qemu::Boot, command: &str, timeout: Duration) -> Result<String> {
    followed(boot, command, timeout, |_| ())
}

/// Runs a command in a guest and gives what it prints. A bar advances as `done` finds more in what
/// was printed so far.
pub fn counted(
    boot: &qemu::Boot,
    command: &str,
    timeout: Duration,
    step: Step,
    done: impl Fn(&[u8]) -> usize,
) -> Result<String> {
    let mut before = 0;
    let text = followed(boot, command, timeout, |text| {
        let now = done(text);
        step.advance((now - before) as u64);
        before = now;
    })?;
    step.finish();
    Ok(text)
}

fn followed(
    boot: &qemu::Boot,
    command: &str,
    timeout: Duration,
    mut follow: impl FnMut(&[u8]),
) -> Result<String> {
    let mut text = Vec::new();
    let mut errors = Vec::new();
    let status = qemu::exec(boot, command, timeout, |stream, bytes| match stream {
        Stream::Output => {
            text.extend(bytes);
            follow(&text);
        }
        Stream::Error => errors.extend(bytes),
    })?;
    if status != 0 {
        // What failed comes first: the rest may be long.
        bail!(
            "the guest's programs failed ({status}): {}\n{}",
            String::from_utf8_lossy(&errors).trim(),
            String::from_utf8_lossy(&text).trim()
        );
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Runs a command in a guest in gem5, with a title for those who wait, and gives what it prints; an
/// error if it fails.
pub fn said_in_gem5(title: &str, exec: impl FnOnce() -> Result<Finished>) -> Result<String> {
    let step = Step::spinner(title.to_owned());
    let finished = exec();
    step.vanish();
    let finished = finished.with_context(|| title.to_owned())?;
    let text = String::from_utf8_lossy(&finished.output);
    ensure!(
        finished.status == 0,
        "the guest's programs failed ({}): {}\n{text}",
        finished.status,
        String::from_utf8_lossy(&finished.errors).trim()
    );
    Ok(text.into_owned())
}

/// The modes with an inner domain among those that a command line names, each once, in one order.
pub fn protected(named: &[Switch]) -> Vec<Switch> {
    let mut modes = named.to_vec();
    modes.retain(|it| *it != Switch::None);
    modes.sort_unstable();
    modes.dedup();
    modes
}

/// The name of what is measured: a mode, or the native kernel.
pub fn kernel_name(switch: Switch) -> &'static str {
    match switch {
        Switch::None => donjon_figures::records::NATIVE,
        _ => switch.name(),
    }
}

/// QEMU's `virt` with one CPU.
pub fn virt(cpu: &str, switch: Switch, icount: bool) -> MachineArguments {
    MachineArguments {
        icount,
        ..with_cpus(cpu, switch, 1)
    }
}

/// QEMU's `virt` with so many CPUs.
pub fn with_cpus(cpu: &str, switch: Switch, cpus: u32) -> MachineArguments {
    MachineArguments {
        cpu: Some(cpu.to_owned()),
        cpus: Some(cpus),
        ..MachineArguments::virt(switch)
    }
}

/// The machine on which the longest calls are longest: blocks that become private together come
/// from all of memory, and there are as many of them as one call takes.
pub fn longest(machine: MachineArguments) -> MachineArguments {
    MachineArguments {
        dma: Some(Dma::Open),
        ..machine
    }
}

/// The machine that is measured: one CPU, also on a board that has more. QEMU's counter is one for
/// all CPUs.
pub fn measured(
    name: &str,
    cpu: Option<&str>,
    switch: Switch,
    icount: bool,
) -> Result<MachineArguments> {
    let machine = if name == VIRT {
        virt(cpu.unwrap_or(CPU), switch, icount)
    } else {
        let recipes = MachineArguments {
            machine: name.to_owned(),
            cpu: cpu.map(str::to_owned),
            icount,
            ..MachineArguments::virt(switch)
        };
        let is_fixed = Machine::new(&recipes)?.recipe.is_fixed;
        MachineArguments {
            cpus: (!is_fixed).then_some(1),
            append: is_fixed.then(|| "maxcpus=1".to_owned()),
            ..recipes
        }
    };
    Machine::new(&machine)?;
    Ok(machine)
}
