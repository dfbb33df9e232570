// SPDX-License-Identifier: MIT OR Apache-2.0
//! LMBench in gem5, in cycles of its models of cores.

use std::time::Duration;

use anyhow::{Result, ensure};
use donjon_builder::{guest, run};
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::gem5::Gem5;

use super::programs::Programs;
use super::rows::Row;
use super::script::{self, Effort};
use crate::arguments::LmbenchArguments;
use crate::guest::said_in_gem5;
use crate::resume::{Inputs, Run};

/// For boot and one layout of all rows.
const TIMEOUT: Duration = Duration::from_secs(4 * 3600);
/// A core with timing runs some hundred thousand instructions in a second, and cycles need no long
/// samples.
const ENOUGH: u32 = 300;
/// The median of them is not the first, which runs with cold caches.
const SAMPLES: u32 = 3;
/// Thousands of faults need no second sample.
const SAMPLES_OF_FILE: u32 = 1;

/// The model of a core.
pub fn core(arguments: &LmbenchArguments) -> &str {
    arguments.cpu.as_deref().unwrap_or("minor")
}

/// Refuses what gem5 does not offer.
///
/// # Errors
///
/// If there is no build of gem5, or something is asked for that it cannot do.
pub fn check(arguments: &LmbenchArguments) -> Result<()> {
    ensure!(
        !arguments.wall,
        "--wall is for QEMU; gem5 counts cycles of its model"
    );
    gem5(arguments, Switch::None, None).map(|_| ())
}

fn gem5(arguments: &LmbenchArguments, switch: Switch, parameter: Option<&str>) -> Result<Gem5> {
    let machine = MachineArguments {
        machine: arguments.machine.clone(),
        cpu: Some(core(arguments).to_owned()),
        memory: arguments.memory.clone(),
        append: parameter.map(str::to_owned),
        ..MachineArguments::virt(switch)
    };
    Gem5::new(&machine, &arguments.gem5)
}

/// The figures of each row, one for each layout.
pub fn figures(
    arguments: &LmbenchArguments,
    switch: Switch,
    programs: &Programs,
    rows: &[&Row],
    run: &mut Run,
) -> Result<Vec<Vec<f64>>> {
    let mut parts = run::prepare_for_model(&arguments.output.host, switch, None)?;
    parts.boot.initramfs = guest::with_programs(&parts.boot.initramfs, &programs.files)?;
    let parts = run::parts_for_gem5(&parts.boot, None)?;
    let effort = Effort {
        layouts: arguments.layouts,
        enough: ENOUGH,
        enough_for_pipe: ENOUGH,
        samples: SAMPLES,
        samples_of_file: SAMPLES_OF_FILE,
    };
    super::by_parameter(rows, |parameter, rows| {
        let gem5 = gem5(arguments, switch, parameter)?;
        let unit = super::unit(switch, parameter);
        let commands = [
            script::preparations(programs),
            script::measurements(rows, effort),
        ];
        run.unit(
            &unit,
            Inputs::of_gem5(&gem5, &parts, &commands)?,
            || {
                let exec = || gem5.exec_prepared(&parts, &commands, TIMEOUT);
                said_in_gem5(&format!("{}, in gem5", super::title(&unit)), exec)
            },
            |text| script::read(text, rows, effort),
        )
    })
}
