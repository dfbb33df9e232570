// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench scale`: how cost grows with pages, CPUs and RAM.
//!
//! docs/scale.md says how to read the tables.

mod boot;
mod cpus;
mod exponent;
mod memory;
mod operations;
mod plan;
mod report;
mod tables;

use std::cell::Cell;

use anyhow::Result;
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::environment::{self, Needs};
use donjon_builder::json;
use donjon_builder::progress::Step;
use donjon_builder::run::{self, Parts};
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::machine::Machine;

use crate::arguments::ScaleArguments;
use crate::calls::Calls;
use crate::{CPU, kernel_name, virt};

use plan::Plan;
pub use report::Report;
use report::{Longest, UNIT};

/// Measures, prints, and fails if something grows faster than the work.
pub fn run(arguments: &ScaleArguments) -> Result<()> {
    json::can_write(arguments.json.as_deref())?;
    let report = measure(arguments)?;
    println!("{report}");
    json::write(arguments.json.as_deref(), &report)?;
    report.check()
}

/// Measures what the arguments say.
pub fn measure(arguments: &ScaleArguments) -> Result<Report> {
    let plan = Plan::new(arguments)?;
    let host = &arguments.host;
    environment::prepare(host, Needs::default())?;
    let mut report = Report {
        unit: UNIT,
        cpu: CPU.into(),
        ..Report::default()
    };
    // What is built in between has bars of its own, so that of the measurement comes and goes.
    let done = Cell::new(0);
    let count = || done.replace(done.get() + 1);
    let step = |title: String| Step::one_of(title, count(), plan.steps());
    for switch in plan.kernels() {
        let kernel = kernel_name(switch);
        if !plan.operations.is_empty() {
            let counting = virt(CPU, switch, true);
            let machine = operations::machine(counting, &plan);
            let parts = parts(host, &machine)?;
            report.linux.clone_from(&parts.kernel.release);
            let step = step(format!("operations, {kernel}"));
            operations::measure(&parts, &plan, kernel, &mut report.operations)?;
            step.vanish();
        }
        for cpus in &plan.cpus {
            cpus::measure(host, switch, *cpus, &mut report.cpus)?;
            count();
        }
        for gibibytes in &plan.memory {
            let parts = parts(host, &memory::machine(switch, *gibibytes))?;
            report.linux.clone_from(&parts.kernel.release);
            let step = step(format!("boot with {gibibytes} GiB, {kernel}"));
            memory::measure(&parts, kernel, &mut report.memory)?;
            step.vanish();
        }
        if plan.boot {
            let parts = parts(host, &boot::machine(virt(CPU, switch, true)))?;
            report.linux.clone_from(&parts.kernel.release);
            let step = step(format!("boot, {kernel}"));
            boot::measure(parts, kernel, report.boot.get_or_insert_default())?;
            step.vanish();
        }
        if plan.longest && switch != Switch::None {
            let parts = parts(host, &virt(CPU, switch, true))?;
            report.linux.clone_from(&parts.kernel.release);
            let step = step(format!("longest calls, {kernel}"));
            let calls = Calls::measure(parts)?;
            step.vanish();
            report.longest.extend(Longest::of(kernel, calls));
        }
    }
    report.exponents = exponent::of_operations(&report.operations)
        .into_iter()
        .chain(exponent::of_cpus(&report.cpus))
        .collect();
    Ok(report)
}

fn parts(host: &HostArguments, machine: &MachineArguments) -> Result<Parts> {
    let inner = InnerVariant::sound(machine.switch);
    run::prepare(host, Machine::new(machine)?, &inner)
}
