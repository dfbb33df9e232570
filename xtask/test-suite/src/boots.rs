// SPDX-License-Identifier: MIT OR Apache-2.0
//! Booting the combinations of switch mode, CPU, number of CPUs and entry level.

use std::time::Duration;

use anyhow::{Result, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::kernel::Variant;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::finding::Finding;
use donjon_machine::machine::Machine;
use donjon_machine::said::{Said, says};

use super::test::Test;

const SWITCHES: [Switch; 4] = [Switch::Asid, Switch::Tlbi, Switch::Strict, Switch::None];
const CPUS: [&str; 3] = ["cortex-a53", "cortex-a57", "max"];
const COUNTS: [u32; 2] = [1, 4];
const LEVELS: [bool; 2] = [false, true];
const TIMEOUT: Duration = Duration::from_secs(120);

/// One combination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Combination {
    switch: Switch,
    cpu: &'static str,
    cpus: u32,
    el2: bool,
}

impl Combination {
    fn name(&self) -> String {
        let level = if self.el2 { "el2" } else { "el1" };
        format!(
            "boot:{}:{}:{}:{level}",
            self.switch.name(),
            self.cpu,
            self.cpus
        )
    }

    /// Half of them, in which each switch meets each CPU with one and with four of it, and at each
    /// level; and each number of CPUs meets each level.
    fn is_usual(&self) -> bool {
        let is_alone = self.cpus == 1;
        (is_alone == self.el2) == (self.cpu == "cortex-a53")
    }

    fn machine(&self) -> Result<Machine> {
        Machine::new(&MachineArguments {
            cpu: Some(self.cpu.into()),
            cpus: Some(self.cpus),
            el2: self.el2,
            ..MachineArguments::virt(self.switch)
        })
    }
}

/// A test for each combination of three of the four, and how much memory there is.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let mut tests = of(host, Combination::is_usual);
    // What is kept about memory is capped somewhere in between.
    for memory in ["4G", "9G"] {
        let host = host.clone();
        tests.push(Test::beside(&format!("boot:memory:{memory}"), move || {
            let arguments = MachineArguments {
                cpus: Some(2),
                memory: Some(memory.into()),
                ..MachineArguments::virt(Switch::Asid)
            };
            let sound = InnerVariant::sound(Switch::Asid);
            let said = guest_says(&host, Machine::new(&arguments)?, &sound, CHECK)?;
            said.expect_success()?;
            said.expect_self_test().map(|_| ())
        }));
    }
    tests
}

/// The other combinations.
pub fn others(host: &HostArguments) -> Vec<Test> {
    of(host, |it| !it.is_usual())
}

fn of(host: &HostArguments, wanted: impl Fn(&Combination) -> bool) -> Vec<Test> {
    let test = |it: Combination| {
        let host = host.clone();
        let is_el2 = (it.cpu, it.cpus, it.el2) == ("max", 4, true) && it.switch != Switch::None;
        let holds: &[_] = if is_el2 { &["I17"] } else { &[] };
        Test::beside(&it.name(), move || boot(&host, it))
            .holds(holds)
            .long_if(it.switch == Switch::None || !it.is_usual())
    };
    let all = every_combination().into_iter();
    all.filter(wanted).map(test).collect()
}

fn every_combination() -> Vec<Combination> {
    let mut all = Vec::new();
    for switch in SWITCHES {
        for cpu in CPUS {
            for cpus in COUNTS {
                for el2 in LEVELS {
                    all.push(Combination {
                        switch,
                        cpu,
                        cpus,
                        el2,
                    });
                }
            }
        }
    }
    all
}

fn boot(host: &HostArguments, combination: Combination) -> Result<()> {
    let variant = InnerVariant::sound(combination.switch);
    let said = guest_says(host, combination.machine()?, &variant, CHECK)?;
    said.expect_success()?;
    said.expect_line(&format!("online: {}", combination.cpus))?;
    if combination.switch == Switch::None {
        return Ok(());
    }
    said.expect_line(&format!("switch: {}", combination.switch.name()))?;
    said.expect_line("weakened: 0x0")?;
    // Cores whose invalidations are known to be complete at once, and one that is not on the list.
    let twice = said.text.contains("TLB invalidations are made twice");
    ensure!(
        twice == (combination.cpu == "max"),
        "the errata of this core are not known:\n{}",
        said.text
    );
    // Every CPU has done the same, and something.
    let each = said.expect_self_test()? / combination.cpus;
    for cpu in 0..combination.cpus {
        said.expect_line(&format!("cpu {cpu}: {each} passed, 0 failed"))?;
    }
    Ok(())
}

/// Fails if the inner domain has taken a machine over that it has to refuse.
pub fn is_not_taken_over(text: &str) -> Result<()> {
    if text.contains("donjon: hand-over done") {
        let text = format!("the hand-over was not refused:\n{text}");
        return Err(Finding::Violation.error(text));
    }
    Ok(())
}

/// What a check in the guest runs.
pub const CHECK: &str = "\
echo online: $(grep -c ^processor /proc/cpuinfo)
if [ -d /sys/kernel/security/donjon ]; then
    cd /sys/kernel/security/donjon && cat status stats log && cat selftest
fi";

/// Builds, boots, runs `command`.
pub fn guest_says(
    host: &HostArguments,
    machine: Machine,
    variant: &InnerVariant,
    command: &str,
) -> Result<Said> {
    let linux = Variant::of(&machine);
    let said = guest_over_says(host, machine, variant, linux, command, TIMEOUT);
    if variant.weakened.is_empty() {
        Said::of_sound(said)
    } else {
        said
    }
}

/// Boots a guest with a Linux and a time limit of choice; returns what it said.
pub fn guest_over_says(
    host: &HostArguments,
    machine: Machine,
    variant: &InnerVariant,
    linux: Variant,
    command: &str,
    timeout: Duration,
) -> Result<Said> {
    let parts = built(host, machine, variant, linux)?;
    says(&parts.boot, command, timeout)
}

/// Builds what boots.
pub use donjon_builder::run::prepare_over as built;
