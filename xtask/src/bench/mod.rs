// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench`: what a call through the gate costs, and how many there are.

pub mod calls;
pub mod path;
mod report;
mod samples;

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::bare::InnerVariant;
use crate::cli::{BenchArguments, CallsArguments, MachineArguments, Switch};
use crate::environment::{self, Needs};
use crate::json;
use crate::machine::Machine;
use crate::progress::Step;
use crate::qemu::{self, Stream};
use crate::run;

use calls::Calls;
use path::PathCost;
use report::Report;
use samples::Samples;

/// Runs all modes, prints one table and writes the JSON file.
pub fn idc(arguments: &BenchArguments) -> Result<()> {
    json::can_write(arguments.json.as_deref())?;
    let machine = |switch| machine(&arguments.cpu, switch, !arguments.wall);
    machine(Switch::Asid)?;
    environment::prepare(&arguments.host, Needs::default())?;
    let mut report = Report::new(arguments.wall, &arguments.cpu);
    for switch in [Switch::Asid, Switch::Tlbi, Switch::Strict, Switch::None] {
        let parts = run::prepare(
            &arguments.host,
            machine(switch)?,
            &InnerVariant::sound(switch),
        )?;
        report.linux.clone_from(&parts.kernel.release);
        let step = Step::spinner(format!("measure {}", switch.name()));
        let text = measure(&parts.boot, switch, arguments.wall)
            .with_context(|| format!("measuring {}", switch.name()))?;
        step.vanish();
        if let Some(bare) = &parts.bare {
            let cost = PathCost::of(&fs::read(&bare.inner)?, tlbi_pages(&text))?;
            report.add_mode(switch, Samples::named("null_idc", &text)?, cost);
        }
        match switch {
            Switch::Asid => {
                report.add("null_syscall", Samples::named("null_syscall", &text)?);
                report.add("function_call", Samples::named("function_call", &text)?);
                if let Ok(samples) = Samples::named("firmware_call", &text) {
                    report.add("firmware_call", samples);
                }
            }
            Switch::None => {
                report.add(
                    "null_syscall_native",
                    Samples::named("null_syscall", &text)?,
                );
            }
            Switch::Tlbi | Switch::Strict => (),
        }
    }
    println!("{report}");
    json::write(arguments.json.as_deref(), &report.json())
}

/// Counts calls per operation and measures the longest; prints tables and writes the JSON file.
pub fn calls(arguments: &CallsArguments) -> Result<()> {
    json::can_write(arguments.json.as_deref())?;
    let machine = machine(&arguments.cpu, arguments.switch, true)?;
    ensure!(
        arguments.switch != Switch::None,
        "without an inner domain (--switch none) there are no calls"
    );
    environment::prepare(&arguments.host, Needs::default())?;
    let inner = InnerVariant::sound(arguments.switch);
    let parts = run::prepare(&arguments.host, machine, &inner)?;
    let step = Step::spinner("count calls");
    let calls = Calls::measure(parts)?;
    step.vanish();
    println!("{calls}");
    json::write(arguments.json.as_deref(), &calls)?;
    calls.check()
}

/// The machine that is measured: one CPU.
pub fn machine(cpu: &str, switch: Switch, icount: bool) -> Result<Machine> {
    Machine::new(&MachineArguments {
        cpu: Some(cpu.to_owned()),
        cpus: Some(1),
        icount,
        ..MachineArguments::virt(switch)
    })
}

/// What the guest prints.
fn measure(boot: &qemu::Boot, switch: Switch, wall: bool) -> Result<String> {
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
    output_of(boot, &command, Duration::from_secs(300))
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
