// SPDX-License-Identifier: MIT OR Apache-2.0
//! The null call in gem5, in cycles of its models of cores.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use donjon_builder::progress::Step;
use donjon_builder::run;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::gem5::Gem5;

use crate::arguments::BenchArguments;
use crate::report::{Report, Unit};
use crate::{add, command, kernel_name};

/// For boot and measurement, in each mode.
const TIMEOUT: Duration = Duration::from_secs(3600);

/// The gate's round trip in all modes.
pub fn measure_idc(arguments: &BenchArguments) -> Result<Report> {
    ensure!(
        !arguments.wall,
        "--wall is for QEMU; gem5 counts cycles of its model"
    );
    let machine = |switch| MachineArguments {
        machine: arguments.machine.clone(),
        cpu: arguments.cpu.clone(),
        memory: arguments.memory.clone(),
        ..MachineArguments::virt(switch)
    };
    let gem5 = Gem5::new(&machine(Switch::Asid), &arguments.gem5)?;
    let mut report = Report::new(Unit::ModelCycles, &gem5.description());
    for switch in [Switch::Asid, Switch::Tlbi, Switch::Strict, Switch::None] {
        let parts = run::prepare_for_model(&arguments.host, switch, None)?;
        report.linux.clone_from(&parts.kernel.release);
        let step = Step::spinner(format!("measure {} in gem5", kernel_name(switch)));
        let what = run::parts_for_gem5(&parts.boot, None)?;
        let finished = gem5.exec(&what, &command(switch, false), TIMEOUT);
        step.vanish();
        let finished = finished.with_context(|| format!("measuring {}", kernel_name(switch)))?;
        let text = String::from_utf8_lossy(&finished.output);
        ensure!(
            finished.status == 0,
            "the guest's programs failed: {text}{}",
            String::from_utf8_lossy(&finished.errors)
        );
        add(&mut report, switch, &parts, &text)?;
    }
    Ok(report)
}
