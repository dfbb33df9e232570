// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench programs`: real programs of Debian's, in instructions for a unit of their
//! work, over the native kernel and in each switch mode.
//!
//! One CPU, `-icount`, a file system in memory, and nothing runs beside the program and what it
//! needs. docs/programs.md says how to read the table.

mod list;
mod report;
mod script;

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use donjon_builder::bare::InnerVariant;
use donjon_builder::environment::{self, Needs};
use donjon_builder::json;
use donjon_builder::progress::Step;
use donjon_builder::rootfs::{self, Root};
use donjon_builder::run;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::qemu::{self, Stream};

use crate::arguments::ProgramsArguments;
use crate::{CPU, kernel_name};

use list::{COMPILER, PACKAGES, PROGRAMS, Program};
use report::{NATIVE, Report, Row};

/// All programs over one kernel. Under `-icount` everything takes long.
const TIMEOUT: Duration = Duration::from_secs(3600);

/// Measures and prints.
pub fn run(arguments: &ProgramsArguments) -> Result<()> {
    json::can_write(arguments.json.as_deref())?;
    let programs = chosen(&arguments.only)?;
    let needs = Needs {
        rootfs: true,
        ..Needs::default()
    };
    environment::prepare(&arguments.host, needs)?;
    let packages = PACKAGES.iter().chain([&COMPILER]);
    let root = Root::Debian(packages.map(|it| (*it).to_owned()).collect());
    let disk = rootfs::obtain(&arguments.host, &root, false)?;
    let mut report = Report {
        unit: "instructions for one unit",
        cpu: CPU.into(),
        linux: String::new(),
        programs: programs.iter().map(|it| Row::new(it)).collect(),
    };
    let modes = arguments.switch.iter().filter(|it| **it != Switch::None);
    for switch in [Switch::None].iter().chain(modes) {
        let machine = Machine::new(&MachineArguments {
            cpu: Some(CPU.into()),
            cpus: Some(1),
            icount: true,
            append: Some("donjon.init=no".into()),
            ..MachineArguments::virt(*switch)
        })?;
        let parts = run::prepare(&arguments.host, machine, &InnerVariant::sound(*switch))?;
        report.linux.clone_from(&parts.kernel.release);
        let boot = qemu::Boot {
            disk: Some(disk.clone()),
            disk_is_root: true,
            ..parts.boot
        };
        let name = kernel_name(*switch);
        let text = measure(&boot, name, &programs)?;
        for (row, program) in report.programs.iter_mut().zip(&programs) {
            let (short, long) = script::runs(&text, program)?;
            let (instructions, calls) =
                script::per_unit(short, long).with_context(|| program.name)?;
            row.instructions.insert(name.into(), instructions);
            if name != NATIVE {
                row.calls.insert(name.into(), calls);
            }
        }
    }
    println!("{report}");
    json::write(arguments.json.as_deref(), &report)
}

/// The programs that have one of the words in their names; all without a word.
fn chosen(words: &[String]) -> Result<Vec<&'static Program>> {
    let is_chosen = |it: &&Program| {
        words.is_empty() || words.iter().any(|word| it.name.contains(word.as_str()))
    };
    let chosen: Vec<_> = PROGRAMS.iter().filter(is_chosen).collect();
    ensure!(
        !chosen.is_empty(),
        "no program has such a name; there are: {}",
        PROGRAMS.map(|it| it.name).join(", ")
    );
    Ok(chosen)
}

/// What the guest prints over one kernel.
fn measure(boot: &qemu::Boot, kernel: &str, programs: &[&Program]) -> Result<String> {
    let lines = 3 * programs.len() as u64;
    let step = Step::counted(format!("run programs, {kernel}"), lines);
    let (mut text, mut errors) = (Vec::new(), Vec::new());
    let script = script::script(programs);
    let status = qemu::exec(boot, &script, TIMEOUT, |stream, bytes| match stream {
        Stream::Output => {
            step.advance(bytes.iter().filter(|it| **it == b'\n').count() as u64);
            text.extend(bytes);
        }
        Stream::Error => errors.extend(bytes),
    })?;
    if status != 0 {
        let said = String::from_utf8_lossy(&errors);
        bail!("over the kernel {kernel}: {}", said.trim());
    }
    step.finish();
    Ok(String::from_utf8_lossy(&text).into_owned())
}
