// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench`: what a call through the gate costs, how many there are,
//! and what becomes of operations of Linux.

pub mod arguments;
pub mod board;
pub mod calls;
pub mod compartments;
pub mod dma;
pub mod flow;
pub mod guard;
pub mod lmbench;
mod markdown;
mod model;
pub mod path;
mod programs;
pub mod report;
pub mod resume;
pub mod samples;
pub mod scale;
mod selection;
mod stress;
mod tables;

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::environment::{self, Needs};
use donjon_builder::json;
use donjon_builder::progress::Step;
use donjon_builder::run::{self, Parts};
use donjon_machine::arguments::{Dma, MachineArguments, Switch, VIRT};
use donjon_machine::gem5;
use donjon_machine::machine::Machine;
use donjon_machine::qemu::{self, Stream};

use crate::arguments::{BenchArguments, BenchCommand, CallsArguments, Subject};

use calls::Calls;
use path::PathCost;
use report::{Report, Unit};
use samples::Samples;

/// The CPU model that is measured unless another is named.
const CPU: &str = "cortex-a57";

/// Runs; returns the exit status.
pub fn run(arguments: &BenchCommand) -> Result<u8> {
    match &arguments.subject {
        Some(Subject::Idc(arguments)) => idc(arguments).map(|()| 0),
        Some(Subject::Calls(arguments)) => calls(arguments).map(|()| 0),
        Some(Subject::Compartments(arguments)) => compartments::run(arguments).map(|()| 0),
        Some(Subject::Dma(arguments)) => dma::run(arguments).map(|()| 0),
        Some(Subject::Flow(arguments)) => flow::run(arguments).map(|()| 0),
        Some(Subject::Lmbench(arguments)) => lmbench::run(arguments).map(|()| 0),
        Some(Subject::Programs(arguments)) => programs::run(arguments).map(|()| 0),
        Some(Subject::Scale(arguments)) => scale::run(arguments).map(|()| 0),
        Some(Subject::Stress(arguments)) => stress::run(arguments).map(|()| 0),
        None if arguments.board.is_some() => board::run(&arguments.board).map(|()| 0),
        None if arguments.record => guard::record(arguments).map(|()| 0),
        None => guard::check(&arguments.host),
    }
}

fn idc(arguments: &BenchArguments) -> Result<()> {
    json::can_write(arguments.json.as_deref())?;
    let report = if arguments.machine == gem5::NAME {
        model::measure_idc(arguments)?
    } else {
        arguments.gem5.expect_none(&arguments.machine)?;
        expect_no_memory(arguments.memory.as_deref())?;
        let machine = measured(
            &arguments.machine,
            arguments.cpu.as_deref(),
            Switch::Asid,
            !arguments.wall,
        )?;
        environment::prepare(&arguments.host, Needs::default())?;
        measure_idc(&arguments.host, &machine, &ALL_SWITCHES)?
    };
    println!("{report}");
    json::write(arguments.json.as_deref(), &report.json())
}

/// Refuses another size of memory for machines of QEMU.
fn expect_no_memory(memory: Option<&str>) -> Result<()> {
    ensure!(
        memory.is_none(),
        "--memory is for --machine {}; figures of other machines are of one size, for comparison",
        gem5::NAME
    );
    Ok(())
}

/// All modes, and the native kernel.
const ALL_SWITCHES: [Switch; 4] = [Switch::Asid, Switch::Tlbi, Switch::Strict, Switch::None];

/// The gate's round trip in these modes on a machine.
fn measure_idc(
    host: &HostArguments,
    machine: &MachineArguments,
    switches: &[Switch],
) -> Result<Report> {
    let wall = !machine.icount;
    let unit = if wall {
        Unit::Nanoseconds
    } else {
        Unit::Instructions
    };
    let mut report = Report::new(unit, &Machine::new(machine)?.cpu);
    for &switch in switches {
        let machine = Machine::new(&MachineArguments {
            switch,
            ..machine.clone()
        })?;
        let parts = run::prepare(host, machine, &InnerVariant::sound(switch))?;
        report.linux.clone_from(&parts.kernel.release);
        let step = Step::spinner(format!("measure {}", switch.name()));
        let text = measure(&parts.boot, switch, wall)
            .with_context(|| format!("measuring {}", switch.name()))?;
        step.vanish();
        add(&mut report, switch, &parts, &text)?;
    }
    Ok(report)
}

/// Adds what the guest printed in a mode.
fn add(report: &mut Report, switch: Switch, parts: &Parts, text: &str) -> Result<()> {
    if let Some(bare) = &parts.bare {
        let cost = PathCost::of(&fs::read(&bare.inner)?, tlbi_pages(text))?;
        report.add_mode(switch, Samples::named("null_idc", text)?, Some(cost));
    }
    match switch {
        Switch::Asid => {
            report.add("null_syscall", Samples::named("null_syscall", text)?);
            report.add("function_call", Samples::named("function_call", text)?);
            // With a board's own tree there is no firmware: the boot stage answers at EL2.
            let firmware = parts.boot.device_tree.is_none();
            if firmware && let Ok(samples) = Samples::named("firmware_call", text) {
                report.add("firmware_call", samples);
            }
        }
        Switch::None => {
            report.add("null_syscall_native", Samples::named("null_syscall", text)?);
        }
        Switch::Tlbi | Switch::Strict => (),
    }
    Ok(())
}

fn calls(arguments: &CallsArguments) -> Result<()> {
    json::can_write(arguments.json.as_deref())?;
    let machine = measured(
        &arguments.machine,
        arguments.cpu.as_deref(),
        arguments.switch,
        true,
    )?;
    ensure!(
        arguments.switch != Switch::None,
        "without an inner domain (--switch none) there are no calls"
    );
    environment::prepare(&arguments.host, Needs::default())?;
    let calls = measure_calls(&arguments.host, &machine)?;
    println!("{calls}");
    json::write(arguments.json.as_deref(), &calls)?;
    calls.check()
}

/// The machine on which the longest calls are longest: blocks that become private together come
/// from all of memory, and there are as many of them as one call takes.
pub fn longest(machine: MachineArguments) -> MachineArguments {
    MachineArguments {
        dma: Some(Dma::Open),
        ..machine
    }
}

/// Calls per operation, and the longest.
fn measure_calls(host: &HostArguments, machine: &MachineArguments) -> Result<Calls> {
    let inner = InnerVariant::sound(machine.switch);
    let machine = Machine::new(&longest(machine.clone()))?;
    let parts = run::prepare(host, machine, &inner)?;
    let step = Step::spinner("count calls");
    let calls = Calls::measure(parts)?;
    step.vanish();
    Ok(calls)
}

/// The modes with an inner domain among those that a command line names, each once, in one order.
fn protected(named: &[Switch]) -> Vec<Switch> {
    let mut modes = named.to_vec();
    modes.retain(|it| *it != Switch::None);
    modes.sort_unstable();
    modes.dedup();
    modes
}

/// The name of what is measured: a mode, or the native kernel.
fn kernel_name(switch: Switch) -> &'static str {
    match switch {
        Switch::None => "native",
        _ => switch.name(),
    }
}

/// The machine that is measured: one CPU.
pub fn machine(cpu: &str, switch: Switch, icount: bool) -> Result<Machine> {
    Machine::new(&virt(cpu, switch, icount))
}

/// QEMU's `virt` with one CPU.
pub fn virt(cpu: &str, switch: Switch, icount: bool) -> MachineArguments {
    MachineArguments {
        cpu: Some(cpu.to_owned()),
        cpus: Some(1),
        icount,
        ..MachineArguments::virt(switch)
    }
}

/// The machine that is measured: one CPU, also on a board that has more. QEMU's counter is one for
/// all CPUs.
fn measured(
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

/// What the guest prints.
pub fn measure(boot: &qemu::Boot, switch: Switch, wall: bool) -> Result<String> {
    let command = command(switch, wall);
    output_of(boot, &command, Duration::from_secs(300))
}

/// What the guest runs.
fn command(switch: Switch, wall: bool) -> String {
    let (file, option) = if wall {
        ("bench_wall", " --wall")
    } else {
        ("bench", "")
    };
    let mut command = format!("donjon-bench{option} || exit 1\n");
    if switch != Switch::None {
        command.push_str("cd /sys/kernel/security/donjon || exit 1\n");
        command.push_str(&format!("cat status && cat {file}"));
    }
    command
}

/// What a command in the guest prints; an error if it fails.
fn output_of(boot: &qemu::Boot, command: &str, timeout: Duration) -> Result<String> {
    let mut text = Vec::new();
    let mut errors = Vec::new();
    let status = qemu::exec(boot, command, timeout, |stream, bytes| match stream {
        Stream::Output => text.extend(bytes),
        Stream::Error => errors.extend(bytes),
    })?;
    if status != 0 {
        bail!(
            "the guest's programs failed: {}{}",
            String::from_utf8_lossy(&text),
            String::from_utf8_lossy(&errors).trim()
        );
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Invalidations that the inner domain says it does on the way out.
fn tlbi_pages(text: &str) -> Option<usize> {
    text.lines()
        .find_map(|line| line.strip_prefix("tlbi_pages:"))?
        .trim()
        .parse()
        .ok()
}
