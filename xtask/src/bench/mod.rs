// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench`: what a call through the gate costs.

pub mod path;
mod report;
mod samples;

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::bare::InnerVariant;
use crate::cli::{BenchArguments, MachineArguments, Switch};
use crate::environment::{self, Needs};
use crate::machine::Machine;
use crate::progress::Step;
use crate::qemu::{self, Stream};
use crate::run;

use path::PathCost;
use report::Report;
use samples::Samples;

/// Runs all modes, prints one table and writes the JSON file.
pub fn idc(arguments: &BenchArguments) -> Result<()> {
    if let Some(path) = &arguments.json {
        // Rather now than after the measurement.
        fs::File::options()
            .create(true)
            .append(true)
            .open(path)
            .with_context(|| format!("writing {}", path.display()))?;
    }
    let machine = |switch| {
        Machine::new(&MachineArguments {
            machine: "virt".into(),
            cpu: Some(arguments.cpu.clone()),
            cpus: Some(1),
            memory: None,
            switch,
            icount: !arguments.wall,
            el2: false,
            append: None,
        })
    };
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
    if let Some(path) = &arguments.json {
        fs::write(path, serde_json::to_string_pretty(&report.json())? + "\n")
            .with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
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
    let mut text = Vec::new();
    let mut errors = Vec::new();
    let status = qemu::exec(
        boot,
        &command,
        Duration::from_secs(300),
        |stream, bytes| match stream {
            Stream::Output => text.extend(bytes),
            Stream::Error => errors.extend(bytes),
        },
    )?;
    if status != 0 {
        bail!(
            "the guest's programs failed: {}",
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
