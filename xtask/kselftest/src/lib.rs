// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's own selftests over the inner domain and over the native kernel, side by side.

pub mod arguments;
mod build;
mod list;
mod report;
mod result;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use comfy_table::{Table, presets};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::environment::{self, Needs};
use donjon_builder::json;
use donjon_builder::run;
use donjon_figures::records::kselftests::Kselftests;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::qemu::DiskImage;
use donjon_machine::said::says;

use crate::arguments::KselftestArguments;
use list::{PROGRAMS, Program};
use result::{BEGIN, END, SelftestResult, parse};

/// Results by program.
struct Results {
    linux: String,
    programs: BTreeMap<String, SelftestResult>,
}

/// `cargo xtask kselftest`; returns the exit status.
pub fn run(arguments: &KselftestArguments) -> Result<u8> {
    if arguments.list {
        PROGRAMS.iter().for_each(|it| println!("{}", it.name));
        return Ok(0);
    }
    json::can_write(arguments.json.as_deref())?;
    let programs = selected(&arguments.names)?;
    let needs = Needs {
        cross_libc: true,
        ..Needs::default()
    };
    environment::prepare(&arguments.host, needs)?;
    let record = compare(
        &arguments.host,
        &arguments.cpu,
        arguments.cpus,
        arguments.switch,
        &programs,
    )?;
    json::write(arguments.json.as_deref(), &record)?;
    Ok(u8::from(!record.worse().is_empty()))
}

/// All programs on four CPUs, as a test.
pub fn test(host: &HostArguments, switch: Switch) -> Result<()> {
    let programs: Vec<&Program> = PROGRAMS.iter().collect();
    let worse = compare(host, "cortex-a57", 4, switch, &programs)?.worse();
    ensure!(worse.is_empty(), "worse than native:\n{}", worse.join("\n"));
    Ok(())
}

fn selected(names: &[String]) -> Result<Vec<&'static Program>> {
    let wanted = |it: &&Program| {
        names.is_empty() || names.iter().any(|name| it.name.contains(name.as_str()))
    };
    let programs: Vec<_> = PROGRAMS.iter().filter(wanted).collect();
    if programs.is_empty() {
        bail!("no selftest has such a name; `cargo xtask kselftest --list` shows the names");
    }
    Ok(programs)
}

/// Runs `programs` natively and in the mode `switch`, and prints both columns.
fn compare(
    host: &HostArguments,
    cpu: &str,
    cpus: u32,
    switch: Switch,
    programs: &[&Program],
) -> Result<Kselftests> {
    let native = results(host, cpu, cpus, Switch::None, programs)?;
    let (linux, native) = (native.linux, native.programs);
    let mut protected = match switch {
        Switch::None => native.clone(),
        _ => results(host, cpu, cpus, switch, programs)?.programs,
    };
    let of = |all: &BTreeMap<String, SelftestResult>, name: &str| {
        all.get(name).cloned().unwrap_or_default()
    };
    // Some depend on time, which the emulator does not keep: what is worse twice is worse.
    let suspects: Vec<&Program> = programs
        .iter()
        .copied()
        .filter(|it| {
            !of(&protected, it.name)
                .worse_than(&of(&native, it.name))
                .is_empty()
        })
        .collect();
    if !suspects.is_empty() {
        let names: Vec<&str> = suspects.iter().map(|it| it.name).collect();
        println!("again, as they were worse: {}", names.join(" "));
        for (name, again) in results(host, cpu, cpus, switch, &suspects)?.programs {
            let first = of(&native, &name);
            if again.worse_than(&first).is_empty() {
                println!("{name} was worse once and is not worse in a second run");
                protected.insert(name, again);
            }
        }
    }
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["passed/failed/skipped", "none", switch.name()]);
    let mut rows = Vec::new();
    for program in programs {
        let (without, with) = (of(&native, program.name), of(&protected, program.name));
        table.add_row([program.name.to_owned(), without.cell(), with.cell()]);
        rows.push(report::row(program.name, &without, &with));
    }
    println!("{table}");
    let record = Kselftests {
        mode: switch.name().into(),
        cpu: cpu.to_owned(),
        cpus,
        linux,
        programs: rows,
    };
    record.worse().iter().for_each(|it| println!("worse: {it}"));
    Ok(record)
}

fn results(
    host: &HostArguments,
    cpu: &str,
    cpus: u32,
    switch: Switch,
    programs: &[&Program],
) -> Result<Results> {
    let machine = Machine::new(&MachineArguments {
        cpu: Some(cpu.into()),
        cpus: Some(cpus),
        // Whole GiB: mode `tlbi` invalidates one mapping after the other then.
        memory: Some("1G".into()),
        ..MachineArguments::virt(switch)
    })?;
    let parts = run::prepare(host, machine, &InnerVariant::sound(switch))?;
    let mut boot = parts.boot;
    boot.disk = Some(DiskImage::unchanged(build::image(host)?));
    let seconds: u64 = programs.iter().map(|it| it.seconds).sum();
    let timeout = Duration::from_secs(60 + seconds);
    let said = says(&boot, &script(programs), timeout)?;
    said.expect_success()?;
    Ok(Results {
        linux: parts.kernel.release,
        programs: parse(&said.text),
    })
}

/// Each program in its own directory of the disk, with a limit of time.
fn script(programs: &[&Program]) -> String {
    let mut script =
        "mount -t ext4 /dev/vda /mnt && mount -t debugfs debugfs /sys/kernel/debug && \
         ifconfig lo up || exit 1\n"
            .to_owned();
    for program in programs {
        let Some((directory, file)) = program.name.rsplit_once('/') else {
            continue;
        };
        script += &format!(
            "echo '{BEGIN}{}'; cd /mnt/{directory}; timeout -s KILL {} ./{file} {} 2>&1; \
             status=$?; echo; echo \"{END}$status\"\n",
            program.name, program.seconds, program.arguments
        );
    }
    script + "exit 0\n"
}
