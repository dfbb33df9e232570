// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench scale`: how cost grows with pages, CPUs and RAM.
//!
//! docs/scale.md says how to read the tables.

mod boot;
mod cpus;
mod exponent;
mod guests;
mod memory;
mod operations;
mod plan;
mod report;
mod tables;

use anyhow::Result;
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::environment::{self, Needs};
use donjon_builder::json;
use donjon_builder::run::{self, Parts};
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::machine::Machine;

use crate::arguments::ScaleArguments;
use crate::calls::Calls;
use crate::resume::Run;
use crate::{CPU, kernel_name, longest, virt};

use guests::Guests;
use plan::Plan;
pub use report::Report;
use report::{Longest, UNIT};

/// Measures, prints, and fails if something grows faster than the work.
pub fn run(arguments: &ScaleArguments) -> Result<()> {
    json::can_write(arguments.json.as_deref())?;
    Plan::new(arguments)?;
    environment::prepare(&arguments.host, Needs::default())?;
    let mut run = Run::begin("scale", arguments.fresh)?;
    let report = measure(arguments, &mut run)?;
    println!("{report}");
    json::write(arguments.json.as_deref(), &report)?;
    run.end()?;
    report.check()
}

/// Measures what the arguments say, on a host that has what a boot needs.
pub fn measure(arguments: &ScaleArguments, run: &mut Run) -> Result<Report> {
    let plan = Plan::new(arguments)?;
    let host = &arguments.host;
    let mut report = Report {
        unit: UNIT,
        cpu: CPU.into(),
        ..Report::default()
    };
    let mut guests = Guests::new(run, plan.steps());
    for switch in plan.kernels() {
        let kernel = kernel_name(switch);
        if !plan.operations.is_empty() {
            let counting = virt(CPU, switch, true);
            let parts = parts(host, &operations::machine(counting, &plan))?;
            report.linux.clone_from(&parts.kernel.release);
            operations::measure(&parts, &plan, kernel, &mut guests, &mut report.operations)?;
        }
        for cpus in &plan.cpus {
            let parts = parts(host, &cpus::machine(switch, *cpus))?;
            cpus::measure(&parts, kernel, &mut guests, &mut report.cpus)?;
        }
        for gibibytes in &plan.memory {
            let parts = parts(host, &memory::machine(switch, *gibibytes))?;
            report.linux.clone_from(&parts.kernel.release);
            memory::measure(&parts, kernel, &mut guests, &mut report.memory)?;
        }
        if plan.boot {
            let parts = parts(host, &boot::machine(virt(CPU, switch, true)))?;
            report.linux.clone_from(&parts.kernel.release);
            let boots = report.boot.get_or_insert_default();
            boot::measure(parts, kernel, &mut guests, boots)?;
        }
        if plan.longest && switch != Switch::None {
            let parts = parts(host, &longest(virt(CPU, switch, true)))?;
            report.linux.clone_from(&parts.kernel.release);
            let title = format!("longest calls ({kernel})");
            let calls = Calls::measured_by(parts, |boot, command, timeout| {
                guests.next(&title, boot, (command, timeout), Calls::read)
            })?;
            report.longest.extend(Longest::of(kernel, calls));
        }
        report.exponents = exponent::of_operations(&report.operations)
            .into_iter()
            .chain(exponent::of_cpus(&report.cpus))
            .collect();
        if report.check().is_err() {
            // Any of the figures that a limit compares may be wrong.
            guests.run.forget()?;
        }
    }
    Ok(report)
}

fn parts(host: &HostArguments, machine: &MachineArguments) -> Result<Parts> {
    let inner = InnerVariant::sound(machine.switch);
    run::prepare(host, Machine::new(machine)?, &inner)
}
