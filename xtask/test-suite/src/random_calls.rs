// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random calls from all CPUs of a guest: the auditor finds nothing while they run and after, and
//! Linux goes on.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use donjon_audit::{Report, Series, Subject};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::kernel::Variant;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::finding::none_succeeded;
use donjon_machine::machine::Machine;
use donjon_machine::qemu;

use super::test::Test;

use super::boots::built;

/// By name alone.
pub const LONG: &str = "fuzz:guest:long";
/// No call gets out, and none breaks what the auditor sees.
const HOLDS: &[&str] = &["P1", "P2"];
const CPUS: u32 = 4;
/// Calls of a test, and of the long one.
const CALLS: u64 = 500_000;
const MANY_CALLS: u64 = 10_000_000;
/// Seconds between two audits.
const PAUSE: u64 = 3;
/// What the guest says when an audit has ended and the calls have not.
const DURING: &str = "looked at during the calls";
/// Boots at most, and what their seeds differ by.
const TURNS: u64 = 3;
const SEEDS: u64 = 1000;
/// Calls a second that a busy host makes at least.
const LEAST_RATE: u64 = 1_000;
/// Calls that some arguments suit and others do not.
const BOTH_WAYS: [&str; 25] = [
    "log",
    "table_write",
    "table_write_list",
    "table_release",
    "switch_root",
    "pool_add",
    "pool_remove",
    "system_register",
    "text_poke",
    "text_seal",
    "firmware",
    "refusals",
    "map",
    "map_block",
    "free",
    "compartment_create",
    "compartment_add",
    "compartment_share",
    "compartment_seal",
    "compartment_run",
    "compartment_destroy",
    "compartment_clone",
    "compartment_copy",
    "compartment_connect",
    "compartment_information",
];

/// What every run of the tests makes.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let host = host.clone();
    vec![Test::alone("fuzz:guest", move || fuzz(&host, Switch::Asid, CALLS, 1)).holds(HOLDS)]
}

/// In all modes; it runs by name alone.
pub fn long(host: &HostArguments) -> Test {
    let host = host.clone();
    Test::alone(LONG, move || {
        for (seed, switch) in (2..).zip([Switch::Asid, Switch::Tlbi, Switch::Strict]) {
            fuzz(&host, switch, MANY_CALLS, seed)?;
        }
        Ok(())
    })
    .holds(HOLDS)
    .long()
}

fn fuzz(host: &HostArguments, switch: Switch, calls: u64, seed: u64) -> Result<()> {
    let machine = Machine::new(&MachineArguments {
        cpus: Some(CPUS),
        memory: Some("512M".into()),
        append: Some("loglevel=4".into()),
        ..MachineArguments::virt(switch)
    })?;
    let inner = InnerVariant::sound(switch);
    let mut parts = built(host, machine, &inner, Variant::Donjon)?;
    donjon_attack::arm(&mut parts)?;
    let subject = Subject::of(&parts)?;
    let mut counts = Counts::default();
    let mut looks = 0;
    // Which calls meet which depends on the host. What no call came to is tried with others.
    for turn in 0..TURNS {
        let said = Said::of(&parts, &subject, calls, seed + turn * SEEDS)?;
        is_whole(&said, calls)?;
        looks += said.reports.len();
        counts.add(&said)?;
        if counts.lacking().is_empty() {
            break;
        }
    }
    let lacking = counts.lacking();
    ensure!(lacking.is_empty(), "{}", lacking.join(", "));
    let accepted: u64 = counts.of.values().map(|it| it.0).sum();
    println!(
        "{}: {calls} calls, at least {accepted} accepted, {} of compartments returned, {looks} \
         audits without a violation",
        switch.name(),
        counts.returned
    );
    Ok(())
}

/// What the calls of all turns came to.
#[derive(Default)]
struct Counts {
    /// By function: accepted and refused.
    of: BTreeMap<&'static str, (u64, u64)>,
    returned: u64,
}

impl Counts {
    fn add(&mut self, said: &Said) -> Result<()> {
        for name in BOTH_WAYS {
            let (accepted, refused) = said.counts(name)?;
            let all = self.of.entry(name).or_default();
            *all = (all.0 + accepted, all.1 + refused);
        }
        self.returned += said.returned()?;
        Ok(())
    }

    /// What did not happen, in words.
    fn lacking(&self) -> Vec<String> {
        let both = |it: &(&&str, &(u64, u64))| it.1.0 > 0 && it.1.1 > 0;
        let one_way = self.of.iter().filter(|it| !both(it));
        let mut lacking: Vec<String> = one_way
            .map(|(name, (accepted, refused))| {
                format!("{name}: {accepted} accepted, {refused} refused")
            })
            .collect();
        if self.returned == 0 {
            lacking.push("no call of a compartment came to its end".into());
        }
        lacking
    }
}

/// Checks that the guest made all calls and goes on, and that it was looked at while it made them
/// and after.
fn is_whole(said: &Said, calls: u64) -> Result<()> {
    ensure!(
        said.text.contains(&format!(
            "attack fuzz/calls: stopped, {calls} calls from {CPUS} CPUs"
        )),
        "{}",
        said.text
    );
    ensure!(said.text.contains("load: modules: ok"), "{}", said.text);
    ensure!(
        said.text.lines().any(|it| it.trim_end() == DURING),
        "no audit ended while the calls were made:\n{}",
        said.text
    );
    ensure!(said.reports.len() >= 2, "{} audits", said.reports.len());
    Ok(())
}

struct Said {
    text: String,
    reports: Vec<Report>,
}

impl Said {
    fn of(
        parts: &donjon_builder::run::Parts,
        subject: &Subject,
        calls: u64,
        seed: u64,
    ) -> Result<Self> {
        let script = format!(
            "insmod /lib/modules/donjon_attack.ko fuzz_calls={calls} fuzz_seed={seed} || exit 3\n\
             echo fuzz >/sys/module/donjon_attack/parameters/run &\n\
             while kill -0 $! 2>/dev/null; do\n\
                 echo look; donjon-wait\n\
                 kill -0 $! 2>/dev/null && echo {DURING} && sleep {PAUSE}\n\
             done\n\
             echo 1 >/sys/module/donjon_attack/parameters/undo\n\
             echo look\n\
             donjon-wait\n\
             dmesg | grep 'attack fuzz'\n\
             donjon-load fork mremap mprotect modules\n"
        );
        let timeout = Duration::from_secs(120 + calls / LEAST_RATE);
        let mut text = String::new();
        let mut audits = Series::of(subject);
        let status = qemu::exec_live(&parts.boot, &script, timeout, |guest, _, bytes| {
            text.push_str(&String::from_utf8_lossy(bytes));
            audits.look_if_asked(guest, bytes);
        });
        none_succeeded(&text)?;
        let reports = audits.judge(status, &text)?;
        Ok(Self { text, reports })
    }

    /// Calls of compartments that came to their end, having asked for everything.
    fn returned(&self) -> Result<u64> {
        let line = self
            .text
            .lines()
            .find(|it| it.ends_with(" calls of compartments returned"));
        let rest = line.and_then(|it| it.split_once("attack fuzz: "));
        let count = rest.and_then(|it| it.1.split(' ').next());
        Ok(count.context("how many compartments returned")?.parse()?)
    }

    /// What follows these words.
    fn words(&self, start: &str) -> Result<impl Iterator<Item = &str> + use<'_>> {
        let start = format!("attack fuzz: {start}");
        let line = self.text.lines().find_map(|it| it.split_once(&start));
        Ok(line.context(start.clone())?.1.split(' '))
    }

    /// Calls of one function: accepted and refused.
    fn counts(&self, name: &str) -> Result<(u64, u64)> {
        let mut words = self.words(&format!("{name}: "))?;
        let accepted = words.next().unwrap_or_default().parse()?;
        let refused = words.nth(1).unwrap_or_default().parse()?;
        Ok((accepted, refused))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_one_turn_had_counts() {
        let mut counts = Counts::default();
        counts.of.insert("map", (3, 0));
        assert_eq!(
            counts.lacking(),
            [
                "map: 3 accepted, 0 refused",
                "no call of a compartment came to its end"
            ]
        );
        counts.of.insert("map", (3, 1));
        counts.returned = 1;
        assert_eq!(counts.lacking(), [""; 0]);
    }
}
