// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pool of tables grows while memory is reclaimed, and reclaim waits for a file system whose
//! transaction needs a table as well: no two tasks wait for each other.

use std::time::Duration;

use anyhow::{Result, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::kernel::Variant;
use donjon_machine::arguments::{Dma, MachineArguments, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::said::says;

use super::boots::built;
use super::test::Test;

const TIMEOUT: Duration = Duration::from_secs(180);
/// Little memory is soon used up, and the pool that it comes with is small.
const MEMORY: &str = "256M";
/// Boots at most, until the transaction needs what the other task waits for.
const TURNS: u32 = 5;
const SCRIPT: &str = "\
insmod /lib/modules/donjon_attack.ko || exit 3
echo reclaim >/sys/module/donjon_attack/parameters/run
dmesg | grep 'attack reclaim/'
dmesg | grep -A 9 'WARNING: \\|BUG: \\|blocked for more' | sed 's/^/complaint: /'
exit 0
";

/// With one CPU, where the tasks take turns, and with several.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    [1, 4]
        .into_iter()
        .map(|cpus| {
            let host = host.clone();
            Test::beside(&format!("reclaim:transaction:{cpus}"), move || {
                gets_on(&host, cpus)
            })
            .holds(&["P4"])
        })
        .collect()
}

fn gets_on(host: &HostArguments, cpus: u32) -> Result<()> {
    let machine = Machine::new(&MachineArguments {
        cpus: Some(cpus),
        memory: Some(MEMORY.into()),
        append: Some("loglevel=7".into()),
        // In the profile that is strict the pool grows from a reserve, without reclaim.
        dma: Some(Dma::Open),
        ..MachineArguments::virt(Switch::Asid)
    })?;
    let inner = InnerVariant::sound(Switch::Asid);
    let mut parts = built(host, machine, &inner, Variant::Donjon)?;
    donjon_attack::arm(&mut parts)?;
    let mut text = says(&parts.boot, SCRIPT, TIMEOUT)?.text;
    // Whether the pool has to grow in the transaction depends on what else Linux allocates.
    for _ in 1..TURNS {
        if !text.contains("reclaim/transaction: UNTRIED") {
            break;
        }
        text = says(&parts.boot, SCRIPT, TIMEOUT)?.text;
    }
    ensure!(
        text.contains("attack reclaim/transaction: stopped, the transaction got its tables"),
        "the tasks do not get on:\n{text}"
    );
    ensure!(!text.contains("complaint: "), "a complaint:\n{text}");
    Ok(())
}
