// SPDX-License-Identifier: MIT OR Apache-2.0
//! A guest in which `donjon-scrape` searches memory, with the attacker's module.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::run;
use donjon_figures::records::compartments::Counts;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::machine::Machine;

use super::lines;
use crate::guest::{CPU, said, with_cpus};

/// CPUs of the guest: the search runs beside what is searched.
pub const CPUS: u32 = 2;
/// Little, so that all of it is soon searched.
pub const MEMORY: &str = "256M";
/// The words of the places, in what the guest prints.
pub const PLACES: [&str; 2] = ["outside", "inside"];
/// Boot, and what a search takes longer than it was told: a round that has begun is ended.
const SLACK: Duration = Duration::from_secs(600);

/// Reads the guest's line with this name.
pub fn counts(text: &str, name: &str) -> Result<Counts> {
    let [is_there, read, refused, reached, found] = lines::one(text, name)?;
    Ok(Counts {
        is_there: is_there == 1,
        read,
        refused,
        reached,
        found,
    })
}

/// Words for the machine.
pub fn machine() -> String {
    format!("searches, nothing is counted in instructions; {CPUS} CPUs, {MEMORY}")
}

/// What a guest prints that runs this for each place, over an inner domain of choice. Fails unless
/// the guest works as before when it is over.
pub fn guest(
    host: &HostArguments,
    inner: &InnerVariant,
    commands: [String; 2],
    longest: Duration,
    linux: &mut String,
) -> Result<String> {
    let machine = Machine::new(&MachineArguments {
        memory: Some(MEMORY.into()),
        ..with_cpus(CPU, Switch::Asid, CPUS)
    })?;
    let mut parts = run::prepare(host, machine, inner)?;
    donjon_attack::arm(&mut parts)?;
    linux.clone_from(&parts.kernel.release);
    let [outside, inside] = commands;
    let script = format!(
        "insmod /lib/modules/{module} || exit 3\n\
         {outside} || exit 4\n\
         {inside} || exit 5\n\
         donjon-run /usr/lib/donjon/hello again || exit 6\n\
         echo tainted: $(cat /proc/sys/kernel/tainted)\n\
         dmesg | grep -A 9 'WARNING: \\|BUG: \\|Internal error' | sed 's/^/complaint: /'\n\
         exit 0\n",
        module = donjon_attack::MODULE,
    );
    let text = said(&parts.boot, "search memory", &script, longest + SLACK)?;
    is_well(&text).with_context(|| text.clone())?;
    Ok(text)
}

/// Linux has complained about nothing.
fn is_well(text: &str) -> Result<()> {
    /// `TAINT_DIE` and `TAINT_WARN`.
    const COMPLAINED: u64 = 1 << 7 | 1 << 9;
    let [tainted] = lines::one(text, "tainted")?;
    ensure!(
        tainted & COMPLAINED == 0 && !text.contains("complaint: "),
        "Linux has complained ({tainted:#x})"
    );
    Ok(())
}
