// SPDX-License-Identifier: MIT OR Apache-2.0
//! The null call in gem5, in cycles of its models of cores.

use std::time::Duration;

use anyhow::{Result, ensure};
use donjon_builder::run;
use donjon_figures::records::idc::Idc;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::gem5::Gem5;

use crate::arguments::BenchArguments;
use crate::guest::{kernel_name, said_in_gem5};
use crate::idc::{ALL_SWITCHES, MODEL_CYCLES, add, command, empty};

/// For boot and measurement, in each mode.
const TIMEOUT: Duration = Duration::from_secs(3600);

/// The gate's round trip in all modes.
pub fn measure_idc(arguments: &BenchArguments) -> Result<Idc> {
    ensure!(
        !arguments.wall,
        "--wall is for QEMU; gem5 counts cycles of its model"
    );
    let machine = MachineArguments {
        machine: arguments.machine.clone(),
        cpu: arguments.cpu.clone(),
        memory: arguments.memory.clone(),
        ..MachineArguments::virt(Switch::Asid)
    };
    let gem5 = Gem5::new(&machine, &arguments.gem5)?;
    let mut record = empty(MODEL_CYCLES, &gem5.description());
    for switch in ALL_SWITCHES {
        let parts = run::prepare_for_model(&arguments.host, switch, None)?;
        let title = format!("measure {} in gem5", kernel_name(switch));
        let what = run::parts_for_gem5(&parts.boot, None)?;
        let command = command(switch, false);
        let text = said_in_gem5(&title, || gem5.exec(&what, &command, TIMEOUT))?;
        add(&mut record, switch, &parts, &text)?;
    }
    Ok(record)
}
