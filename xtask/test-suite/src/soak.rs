// SPDX-License-Identifier: MIT OR Apache-2.0
//! Half an hour of everything that writes tables and code, looked at from outside all the while.

use std::time::Duration;

use anyhow::{Result, ensure};
use donjon_audit::{Series, Subject};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::run::prepare;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::qemu;

use super::test::Test;

/// Name of the test.
pub const NAME: &str = "soak";
const CPUS: u32 = 4;
const SECONDS: u64 = 30 * 60;
/// Between two audits; nothing in the guest keeps step with it.
const PAUSE: u64 = 37;
/// Boot, and what the load takes longer than it was told.
const SLACK: u64 = 10 * 60;

/// The test; it runs by name alone.
pub fn test(host: &HostArguments) -> Test {
    let host = host.clone();
    Test::alone(NAME, move || soak(&host)).long()
}

fn soak(host: &HostArguments) -> Result<()> {
    let switch = Switch::Asid;
    let machine = Machine::new(&MachineArguments {
        cpus: Some(CPUS),
        memory: Some("512M".into()),
        ..MachineArguments::virt(switch)
    })?;
    let variant = InnerVariant::sound(switch);
    let parts = prepare(host, machine, &variant)?;
    let subject = Subject::of(&parts)?;
    let script = format!(
        "donjon-load stress --seconds {SECONDS} --cpus {CPUS} &\n\
         while kill -0 $! 2>/dev/null; do sleep {PAUSE}; echo look; donjon-wait; done\n\
         wait $!; status=$?\nexit $status\n"
    );
    let mut said = String::new();
    let mut audits = Series::of(&subject);
    let timeout = Duration::from_secs(SECONDS + SLACK);
    let status = qemu::exec_live(&parts.boot, &script, timeout, |guest, _, bytes| {
        let text = String::from_utf8_lossy(bytes);
        print!("{text}");
        said.push_str(&text);
        audits.look_if_asked(guest, bytes);
    });
    let looks = audits.judge(status, &said)?.len() as u64;
    ensure!(
        looks >= SECONDS / PAUSE / 2,
        "there were only {looks} audits"
    );
    println!("{looks} audits, no violation");
    Ok(())
}
