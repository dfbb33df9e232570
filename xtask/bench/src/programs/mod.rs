// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench programs`: real programs of Debian's, in instructions for a unit of their
//! work, over the native kernel and in each switch mode; and stress-ng, in time of the emulator.
//!
//! One CPU, `-icount`, a file system in memory, and nothing runs beside the program and what it
//! needs. stress-ng has several CPUs instead. docs/programs.md says how to read the tables.

mod list;
mod report;
mod script;
mod stress;

use std::time::Duration;

use anyhow::{Context, Result};
use donjon_builder::arguments::HostArguments;
use donjon_builder::environment::{self, Needs};
use donjon_builder::json;
use donjon_builder::progress::Step;
use donjon_builder::rootfs::{self, Root};
use donjon_figures::records::programs::Programs;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::qemu::{self, DiskImage};

use crate::Record;
use crate::arguments::ProgramsArguments;
use crate::guest::{CPU, counted, kernel_name, prepare, protected, with_cpus};
use crate::resume::{Inputs, Run};
use crate::selection::Selection;

use list::{COMPILER, PACKAGES, PROGRAMS, Program};
use stress::{STRESSORS, Stressor};

/// All programs over one kernel. Under `-icount` everything takes long.
const TIMEOUT: Duration = Duration::from_secs(3600);

/// Measures and prints.
pub fn run(arguments: &ProgramsArguments) -> Result<()> {
    let output = &arguments.output;
    json::can_write(output.json.as_deref())?;
    let (programs, stressors) = chosen(&arguments.only)?;
    let needs = Needs {
        rootfs: true,
        ..Needs::default()
    };
    environment::prepare(&output.host, needs)?;
    let packages = PACKAGES.iter().chain([&COMPILER, &stress::PACKAGE]);
    let root = Root::Debian(packages.map(|it| (*it).to_owned()).collect());
    let disk = rootfs::obtain(&output.host, &root, false)?;
    let mut run = Run::begin("programs", arguments.fresh)?;
    let mut record = Programs {
        unit: "instructions for one unit".into(),
        cpu: CPU.into(),
        linux: String::new(),
        programs: programs.iter().map(|it| report::row(it)).collect(),
        stress: stress::rows(&stressors),
    };
    let modes = [vec![Switch::None], protected(&arguments.switch)].concat();
    let boot = |switch, cpus, icount| boot(&output.host, switch, &disk, cpus, icount);
    for switch in modes.iter().filter(|_| !programs.is_empty()) {
        let (boot, linux) = boot(*switch, 1, true)?;
        record.linux = linux;
        let name = kernel_name(*switch);
        let all = programs.iter().map(|it| script::lines(it)).sum::<u64>();
        let step = || Step::counted(format!("run programs, {name}"), all);
        let script = script::script(&programs);
        run.unit(
            name,
            Inputs::of_boot(&boot, &script)?,
            || counted(&boot, &script, TIMEOUT, step(), lines),
            |text| report::add(&mut record.programs, name, &programs, text),
        )
        .with_context(|| format!("over the kernel {name}"))?;
        if record.check().is_err() {
            // Either of the two that a goal compares may be wrong.
            run.forget()?;
        }
    }
    // Times of all kernels are taken one after the other, so that the host changes little between.
    let on_cpus = stress::CPUS.into_iter();
    let timed = on_cpus.flat_map(|cpus| modes.iter().map(move |switch| (cpus, *switch)));
    for (cpus, switch) in timed.filter(|_| !stressors.is_empty()) {
        let (boot, linux) = boot(switch, cpus, false)?;
        record.linux = linux;
        let name = kernel_name(switch);
        let title = format!("stress-ng on {cpus} CPUs, {name}");
        let step = || Step::counted(title, stressors.len() as u64);
        let script = stress::script(&stressors, cpus);
        run.unit(
            &format!("{name} with {} on {cpus} CPUs", stress::PACKAGE),
            Inputs::of_boot(&boot, &script)?,
            || counted(&boot, &script, stress::TIMEOUT, step(), lines),
            |text| stress::add(&mut record.stress, name, cpus, text),
        )
        .with_context(|| format!("over the kernel {name} with {cpus} CPUs"))?;
    }
    output.show(&record)?;
    run.end()?;
    record.check()
}

/// Programs and stressors that have one of the words in their names; all without a word.
fn chosen(words: &[String]) -> Result<(Vec<&'static Program>, Vec<&'static Stressor>)> {
    let of_stressor = |it: &Stressor| format!("{} {}", stress::PACKAGE, it.name);
    let names = PROGRAMS.iter().map(|it| it.name.to_owned());
    let names: Vec<String> = names.chain(STRESSORS.iter().map(of_stressor)).collect();
    let selection = Selection::new(words, "program", &names)?;
    let programs = PROGRAMS
        .iter()
        .filter(|it| selection.has(it.name))
        .collect();
    let stressors = STRESSORS.iter();
    let stressors = stressors.filter(|it| selection.has(&of_stressor(it)));
    let stressors = stressors.collect();
    Ok((programs, stressors))
}

/// A machine with the disk, and the release of its Linux.
fn boot(
    host: &HostArguments,
    switch: Switch,
    disk: &DiskImage,
    cpus: u32,
    icount: bool,
) -> Result<(qemu::Boot, String)> {
    let machine = MachineArguments {
        icount,
        append: Some("donjon.init=no".into()),
        ..with_cpus(CPU, switch, cpus)
    };
    let parts = prepare(host, &machine)?;
    let boot = qemu::Boot {
        disk: Some(disk.clone()),
        disk_is_root: true,
        ..parts.boot
    };
    Ok((boot, parts.kernel.release))
}

/// How many lines are whole.
fn lines(text: &[u8]) -> usize {
    text.iter().filter(|it| **it == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_choose_programs_and_stressors() {
        let count = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|it| (*it).to_owned()).collect();
            chosen(&words).map(|it| (it.0.len(), it.1.len())).ok()
        };
        assert_eq!(count(&[]), Some((PROGRAMS.len(), STRESSORS.len())));
        assert_eq!(count(&["redis"]), Some((3, 0)));
        assert_eq!(count(&["postgresql"]), Some((2, 0)));
        assert_eq!(count(&["stress-ng"]), Some((0, STRESSORS.len())));
        assert_eq!(count(&["no such program"]), None);
    }
}
