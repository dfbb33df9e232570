// SPDX-License-Identifier: MIT OR Apache-2.0
//! No call is longer than the bound, not even those that an attacker would choose.

use anyhow::Result;
use donjon_bench::{Record, calls, guard, longest, virt};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::kernel::Variant;
use donjon_machine::arguments::Switch;
use donjon_machine::machine::Machine;

use super::boots::built;
use super::test::Test;

/// In the mode that invalidates most, and in the fastest.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    [(Switch::Asid, "cortex-a57"), (Switch::Tlbi, "cortex-a53")]
        .into_iter()
        .map(|(switch, cpu)| {
            let host = host.clone();
            let name = format!("longest-call:{}:{cpu}", switch.name());
            Test::beside(&name, move || bounded(&host, switch, cpu)).long_if(switch == Switch::Tlbi)
        })
        .collect()
}

fn bounded(host: &HostArguments, switch: Switch, cpu: &str) -> Result<()> {
    let inner = InnerVariant::sound(switch);
    let machine = Machine::new(&longest(virt(cpu, switch, true)))?;
    let parts = built(host, machine, &inner, Variant::Donjon)?;
    let calls = calls::measure(parts)?;
    if switch == Switch::Asid {
        guard::check_calls(&calls)?;
    }
    calls.check()
}
