// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench lmbench`: LMBench over the native kernel and in each switch mode.

mod model;
mod programs;
pub mod published;
mod report;
mod rows;
mod script;

use std::time::Duration;

use anyhow::{Context, Result};
use donjon_builder::arguments::HostArguments;
use donjon_builder::environment::{self, Needs};
use donjon_builder::guest;
use donjon_builder::json;
use donjon_builder::progress::Step;
use donjon_figures::records::lmbench::Lmbench;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::gem5;
use donjon_machine::machine::Machine;
use donjon_machine::qemu;

use crate::arguments::LmbenchArguments;
use crate::guest::{counted, kernel_name, measured, prepare, protected};
use crate::idc::expect_no_memory;
use crate::resume::{Inputs, Run};

pub use programs::Programs;
pub use rows::{ROWS, Row, Samples};
pub use script::Effort;

use report::{MICROSECONDS, MODEL_CYCLES, Report, Spread};
use rows::{NO_SWITCH, selected};

/// Most seconds for one layout of all rows.
const SECONDS: u64 = 600;
/// Why a row stands there twice.
const ABOUT_NULL: &str = "null: the native kernel switches the work-around for speculative stores \
    (SSBD) at each entry with a firmware call, which counts as few instructions; under Donjon it \
    stays on. `null, no ssbd switch` is with ssbd=force-on for both.";

/// Runs native and all modes, prints one table and writes the JSON file.
pub fn run(arguments: &LmbenchArguments) -> Result<()> {
    let json = arguments.output.json.as_deref();
    json::can_write(json)?;
    let (report, run) = report(arguments)?;
    println!("{}\n\n{}", report.table()?, published::LEGEND);
    if ROWS
        .iter()
        .any(|it| it.parameter == Some(NO_SWITCH) && report.record.rows.contains_key(it.name))
    {
        println!("{ABOUT_NULL}");
    }
    if let Some(note) = report.note {
        println!("{note}");
    }
    json::write(json, &report.record)?;
    run.end()
}

/// Measures native and all modes. The run is at its end when the report is where it belongs.
pub fn report(arguments: &LmbenchArguments) -> Result<(Report, Run)> {
    let mut rows = selected(&arguments.rows)?;
    let modes = protected(&arguments.switch);
    let in_gem5 = arguments.machine == gem5::NAME;
    if in_gem5 && arguments.rows.is_empty() {
        // No firmware is there that would switch the work-around: the rows with it are the same.
        rows.retain(|it| it.parameter != Some(NO_SWITCH));
    }
    let machine = |switch| {
        let cpu = arguments.cpu.as_deref();
        measured(&arguments.machine, cpu, switch, !arguments.wall)
    };
    let cpu = if in_gem5 {
        model::check(arguments)?;
        model::core(arguments).to_owned()
    } else {
        arguments.gem5.expect_none(&arguments.machine)?;
        expect_no_memory(arguments.memory.as_deref())?;
        Machine::new(&machine(Switch::None)?)?.cpu
    };
    environment::prepare(&arguments.output.host, Needs::default())?;
    let mut run = Run::begin("lmbench", arguments.fresh)?;
    let programs = Programs::obtain(arguments, &rows)?;
    let effort = Effort::new(arguments.layouts, arguments.wall);
    let mut spreads = |switch| -> Result<Vec<Spread>> {
        let (host, run) = (&arguments.output.host, &mut run);
        let figures = if in_gem5 {
            model::figures(arguments, switch, &programs, &rows, run)
        } else {
            figures(host, &machine(switch)?, &programs, &rows, effort, run)
        };
        let figures = figures.with_context(|| format!("measuring {}", kernel_name(switch)))?;
        Ok(figures.iter().map(|it| Spread::of(it)).collect())
    };
    let native = spreads(Switch::None)?;
    let mut all = Vec::new();
    for switch in modes {
        all.push((switch, spreads(switch)?));
    }
    let unit = if in_gem5 {
        "thousands of cycles (kcycles) of gem5's model of a core: no hardware"
    } else if arguments.wall {
        "microseconds of QEMU wall time (emulator): no statement about hardware"
    } else {
        "1 microsecond = 1000 instructions (-icount shift=0)"
    };
    let record = Lmbench {
        unit: if in_gem5 { MODEL_CYCLES } else { MICROSECONDS }.into(),
        layouts: arguments.layouts,
        source: programs.source.clone(),
        machine: in_gem5.then(|| arguments.machine.clone()),
        cpu: in_gem5.then(|| cpu.clone()),
        ..Lmbench::default()
    };
    let head = format!(
        "LMBench ({}), {unit}; mean ± standard deviation over {} layouts of the stack; {}, {cpu}, \
         1 CPU",
        programs.source, arguments.layouts, arguments.machine
    );
    let report = Report::new(record, head, programs.note, &rows, native, &all);
    Ok((report, run))
}

/// The figures of each row, one for each layout. Rows that need a kernel parameter have a boot
/// of their own.
pub fn figures(
    host: &HostArguments,
    machine: &MachineArguments,
    programs: &Programs,
    rows: &[&Row],
    effort: Effort,
    run: &mut Run,
) -> Result<Vec<Vec<f64>>> {
    let mut boot = prepare(host, machine)?.boot;
    boot.initramfs = guest::with_programs(&boot.initramfs, &programs.files)?;
    let always = boot.machine.append.clone();
    by_parameter(rows, |parameter, rows| {
        let words: Vec<&str> = always.as_deref().into_iter().chain(parameter).collect();
        boot.machine.append = (!words.is_empty()).then(|| words.join(" "));
        let unit = unit(machine.switch, parameter);
        let script = script::script(programs, rows, effort);
        run.unit(
            &unit,
            Inputs::of_boot(&boot, &script)?,
            || output(&boot, &script, &unit, rows, effort),
            |text| script::read(text, rows, effort),
        )
    })
}

/// The name of one boot.
fn unit(switch: Switch, parameter: Option<&str>) -> String {
    let with = parameter.map(|it| format!(" with {it}"));
    format!("{}{}", kernel_name(switch), with.unwrap_or_default())
}

/// What a bar says of a boot.
fn title(unit: &str) -> String {
    format!("LMBench, {unit}")
}

/// The figures of all rows, measured for the rows of each kernel parameter.
fn by_parameter(
    rows: &[&Row],
    mut measure: impl FnMut(Option<&str>, &[&Row]) -> Result<Vec<Vec<f64>>>,
) -> Result<Vec<Vec<f64>>> {
    let mut parameters: Vec<_> = rows.iter().map(|it| it.parameter).collect();
    parameters.sort_unstable();
    parameters.dedup();
    let mut all = vec![Vec::new(); rows.len()];
    for parameter in parameters {
        let these: Vec<&Row> = rows
            .iter()
            .copied()
            .filter(|it| it.parameter == parameter)
            .collect();
        let mut figures = measure(parameter, &these)?.into_iter();
        for (row, all) in rows.iter().zip(&mut all) {
            if row.parameter == parameter {
                *all = figures.next().unwrap_or_default();
            }
        }
    }
    Ok(all)
}

/// What one boot prints.
fn output(
    boot: &qemu::Boot,
    script: &str,
    unit: &str,
    rows: &[&Row],
    effort: Effort,
) -> Result<String> {
    let runs = script::runs(rows, effort).len() as u64;
    let step = Step::counted(title(unit), runs * u64::from(effort.layouts));
    let timeout = Duration::from_secs(SECONDS * u64::from(effort.layouts));
    counted(boot, script, timeout, step, script::begun)
}
