// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench scale`: how cost grows with pages, CPUs and RAM.
//!
//! docs/scale.md says how to read the tables.

mod boot;
mod cpus;
mod exponent;
mod guests;
mod limits;
mod memory;
mod operations;
mod plan;
mod tables;

use anyhow::Result;
use donjon_figures::records::scale::{Longest, Scale};
use donjon_machine::arguments::Switch;

use crate::arguments::ScaleArguments;
use crate::guest::{CPU, kernel_name, longest, prepare, virt};
use crate::resume::Run;
use crate::{Record, calls};

use guests::Guests;
use plan::Plan;

/// Measures, prints, and fails if something grows faster than the work.
pub fn run(arguments: &ScaleArguments) -> Result<()> {
    Plan::new(arguments)?;
    arguments.output.prepare()?;
    let mut run = Run::begin("scale", arguments.fresh)?;
    let record = measure(arguments, &mut run)?;
    arguments.output.show(&record)?;
    run.end()?;
    record.check()
}

/// Measures what the arguments say, on a host that has what a boot needs.
pub fn measure(arguments: &ScaleArguments, run: &mut Run) -> Result<Scale> {
    let plan = Plan::new(arguments)?;
    let host = &arguments.output.host;
    let mut record = Scale {
        unit: "instructions (-icount shift=0)".into(),
        cpu: CPU.into(),
        ..Scale::default()
    };
    let mut guests = Guests::new(run, plan.steps());
    for switch in plan.kernels() {
        let kernel = kernel_name(switch);
        if !plan.operations.is_empty() {
            let counting = virt(CPU, switch, true);
            let parts = prepare(host, &operations::machine(counting, &plan))?;
            record.linux.clone_from(&parts.kernel.release);
            operations::measure(&parts, &plan, kernel, &mut guests, &mut record.operations)?;
        }
        for cpus in &plan.cpus {
            let parts = prepare(host, &cpus::machine(switch, *cpus))?;
            cpus::measure(&parts, kernel, &mut guests, &mut record.cpus)?;
        }
        for gibibytes in &plan.memory {
            let parts = prepare(host, &memory::machine(switch, *gibibytes))?;
            record.linux.clone_from(&parts.kernel.release);
            memory::measure(&parts, kernel, &mut guests, &mut record.memory)?;
        }
        if plan.boot {
            let parts = prepare(host, &boot::machine(virt(CPU, switch, true)))?;
            record.linux.clone_from(&parts.kernel.release);
            let boots = record.boot.get_or_insert_default();
            boot::measure(parts, kernel, &mut guests, boots)?;
        }
        if plan.longest && switch != Switch::None {
            let parts = prepare(host, &longest(virt(CPU, switch, true)))?;
            record.linux.clone_from(&parts.kernel.release);
            let title = format!("longest calls ({kernel})");
            let calls = calls::measured_by(parts, |boot, command, timeout| {
                guests.next(&title, boot, (command, timeout), calls::read)
            })?;
            let longest = calls.longest.into_iter().map(|call| Longest {
                mode: kernel.into(),
                call,
            });
            record.longest.extend(longest);
        }
        record.exponents = exponent::of_operations(&record.operations)
            .into_iter()
            .chain(exponent::of_cpus(&record.cpus))
            .collect();
        if record.check().is_err() {
            // Any of the figures that a limit compares may be wrong.
            guests.run.forget()?;
        }
    }
    Ok(record)
}
