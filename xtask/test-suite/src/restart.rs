// SPDX-License-Identifier: MIT OR Apache-2.0
//! `reboot` and `poweroff` reach the firmware, through the inner domain, and on a board without
//! firmware its watchdog, which the inner domain drives. QEMU says which of both it was.

use std::time::Duration;

use anyhow::{Result, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::kernel::Variant;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::said;

use super::boots::built;
use super::machines::board;
use super::test::Test;

const TIMEOUT: Duration = Duration::from_secs(300);

/// What ends the machine, the kernel's last word, and QEMU's name for it. No recipe lets QEMU begin
/// again (`-no-reboot`), but it says what was asked for.
const ENDS: [(&str, &str, &str); 2] = [
    ("reboot", "reboot: Restarting system", "guest-reset"),
    ("poweroff", "reboot: Power down", "guest-shutdown"),
];

/// Checks a machine against its recipe.
type New = fn() -> Result<Machine>;

/// One test for each, on each machine.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let machines: [(&str, New); 2] = [("", virt), ("raspi3b:", board::machine)];
    let mut tests = Vec::new();
    for (place, machine) in machines {
        for (command, word, reason) in ENDS {
            let host = host.clone();
            let name = format!("restart:{place}{command}");
            tests.push(Test::beside(&name, move || {
                ends(&host, machine()?, command, word, reason)
            }));
        }
    }
    tests
}

fn virt() -> Result<Machine> {
    Machine::new(&MachineArguments {
        cpus: Some(2),
        memory: Some("256M".into()),
        ..MachineArguments::virt(Switch::Asid)
    })
}

fn ends(
    host: &HostArguments,
    machine: Machine,
    command: &str,
    word: &str,
    reason: &str,
) -> Result<()> {
    let inner = InnerVariant::sound(Switch::Asid);
    let parts = built(host, machine, &inner, Variant::Donjon)?;
    let ended = said::ends(&parts.boot, &format!("{command} -f; sleep 600"), TIMEOUT)?;
    // A machine that hangs is stopped at the limit of time, which the text says.
    let text = ended.text;
    let as_asked =
        text.contains(word) && !text.contains("PANIC") && !text.contains("the guest hung");
    ensure!(as_asked, "{text}");
    ensure!(
        ended.reason == reason,
        "QEMU ended by {} and not by {reason}: {text}",
        ended.reason
    );
    Ok(())
}
