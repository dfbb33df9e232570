// SPDX-License-Identifier: MIT OR Apache-2.0
//! A GICv3 with as many CPUs as there may be, and machines with EL2 and EL3.

use anyhow::{Result, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::machine::Machine;

use super::super::boots::{CHECK, guest_says};
use super::super::runner::Test;

/// All of them.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let arguments = MachineArguments {
        machine: "virt-gicv3".into(),
        cpus: Some(2),
        memory: Some("256M".into()),
        ..MachineArguments::virt(Switch::Asid)
    };
    let large = MachineArguments {
        cpus: Some(16),
        memory: Some("8G".into()),
        ..arguments.clone()
    };
    let el2 = MachineArguments {
        el2: true,
        ..arguments.clone()
    };
    let cases = [
        ("gicv3:16-cpus", large, ""),
        ("gicv3:el2", el2.clone(), ""),
        ("gicv3:secure", arguments, ",secure=on"),
        ("gicv3:secure:el2", el2, ",secure=on"),
    ];
    let tests = cases.map(|(name, arguments, more)| {
        let host = host.clone();
        Test::beside(&format!("machine:{name}"), move || {
            works(&host, &arguments, more)
        })
    });
    tests.into()
}

/// That the machine boots on all its CPUs and passes the self-test on each.
fn works(host: &HostArguments, arguments: &MachineArguments, more: &str) -> Result<()> {
    let mut machine = Machine::new(arguments)?;
    machine.recipe.machine.push_str(more);
    let cpus = machine.cpus;
    let sound = InnerVariant::sound(machine.switch);
    let said = guest_says(host, machine, &sound, CHECK)?;
    said.expect_success()?;
    let (passed, failed) = said.self_test()?;
    ensure!(
        passed > 0 && failed == 0 && said.text.contains(&format!("online: {cpus}\n")),
        "{}",
        said.text
    );
    Ok(())
}
