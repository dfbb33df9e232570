// SPDX-License-Identifier: MIT OR Apache-2.0
//! `reboot` and `poweroff` reach the firmware, through the inner domain.

use std::time::Duration;

use anyhow::{Result, bail, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::kernel::Variant;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::said::says;

use super::boots::built;
use super::runner::Test;

const TIMEOUT: Duration = Duration::from_secs(300);
/// What ends the machine, and the kernel's last word.
const ENDS: [(&str, &str); 2] = [
    ("reboot", "reboot: Restarting system"),
    ("poweroff", "reboot: Power down"),
];

/// One test for each.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    ENDS.into_iter()
        .map(|(command, word)| {
            let host = host.clone();
            Test::beside(&format!("restart:{command}"), move || {
                ends(&host, command, word)
            })
        })
        .collect()
}

fn ends(host: &HostArguments, command: &str, word: &str) -> Result<()> {
    let machine = Machine::new(&MachineArguments {
        cpus: Some(2),
        memory: Some("256M".into()),
        ..MachineArguments::virt(Switch::Asid)
    })?;
    let inner = InnerVariant::sound(Switch::Asid);
    let parts = built(host, machine, &inner, Variant::Donjon)?;
    match says(&parts.boot, &format!("{command} -f; sleep 600"), TIMEOUT) {
        Ok(said) => bail!("the machine went on: {}", said.text),
        Err(error) => {
            let text = format!("{error:#}");
            // A machine that hangs is stopped at the limit of time, which the text says.
            let ended =
                text.contains(word) && !text.contains("PANIC") && !text.contains("the guest hung");
            ensure!(ended, "{text}");
            Ok(())
        }
    }
}
