// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compartments in a guest: they do what they should, and the auditor finds nothing while they run.

mod controls;
mod images;
mod number;
mod planted;
mod scrape;
mod stop;

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use donjon_audit::{Series, Subject};
use donjon_bench::compartments::{Measured, call as calls, goal};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::run::prepare;
use donjon_figures::records::compartments::Calls;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::finding::Finding;
use donjon_machine::machine::Machine;
use donjon_machine::qemu;
use donjon_machine::said::{Said, says};

use super::test::Test;

pub use scrape::long;

const TIMEOUT: Duration = Duration::from_secs(1200);
const CPUS: u32 = 4;
/// What the program `check` shows of compartments.
const CHECKED: &[&str] = &["I20", "P5", "P6"];
/// What the auditor sees of compartments.
const AUDITED: &[&str] = &["I19", "I20", "I21", "I22"];
/// Most instructions that a call from user space and back may take.
const CALL_MAX: u64 = 1_000;
/// Most that one request may take from user space: interrupts are masked for nearly all of it.
const REQUEST_MAX: u64 = 20_000;
const REQUESTS: [&str; 4] = ["random bytes", "report", "look at a report", "key"];
/// Each CPU in a compartment nearly all the time, and looks at intervals that nothing keeps step
/// with.
const BUSY: &str = "\
for cpu in 0 1 2 3; do donjon-compartment spin 4 & done
for pause in 3 5 7 11 4 6; do
    sleep 0.$pause
    echo look
    donjon-wait
done
wait
echo look
donjon-wait
exit 0
";

/// Shell script that runs instructions of vector extensions in a compartment, where they trap.
const VECTORS: &str = "\
donjon-compartment vector >/tmp/vector || exit 1
cat /tmp/vector
[ $(grep -c ': trap ' /tmp/vector) = 2 ] || exit 1
";

/// A user that has the device and no capability. Root's are charged as well, and not limited.
const ACCOUNT: &str = "\
chmod 666 /dev/donjon/compartment || exit 1
donjon-compartment account || exit 1
chmod 600 /dev/donjon/compartment
(ulimit -l 0; donjon-compartment check) || exit 1
";

/// With the reset's key of PACGA and with one that the module writes: with the latter a process
/// computes something else.
const GENERIC_KEY: &str = "\
donjon-compartment generic-key || exit 1
insmod /lib/modules/donjon_attack.ko || exit 3
echo 0x123456789 > /sys/module/donjon_attack/parameters/generic_key || exit 4
for again in 1 2 3 4; do donjon-compartment generic-key || exit 1; done
";

/// A check in each mode, an audit, and what a call costs.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let mut tests = Vec::new();
    for switch in [Switch::Asid, Switch::Tlbi, Switch::Strict] {
        let host = host.clone();
        let name = format!("compartments:check:{}", switch.name());
        let test = Test::beside(&name, move || check(&host, switch));
        tests.push(test.holds(CHECKED).long_if(switch == Switch::Tlbi));
    }
    let with_vectors = host.clone();
    let max = Test::beside("compartments:check:asid:max", move || {
        check_on(&with_vectors, &on_max(), VECTORS).map(drop)
    });
    tests.push(max.holds(CHECKED).holds(&["I21"]));
    let of_user = host.clone();
    tests.push(Test::beside("compartments:account", move || {
        check_on(&of_user, &machine(Switch::Asid), ACCOUNT).map(drop)
    }));
    let with_key = host.clone();
    let key = Test::beside("compartments:generic-key", move || generic_key(&with_key));
    tests.push(key.holds(&["P5"]));
    tests.extend(controls::tests(host));
    tests.push(images::test(host));
    tests.push(planted::test(host));
    tests.extend(scrape::tests(host));
    tests.extend(stop::tests(host));
    let audited = host.clone();
    tests.push(Test::beside("compartments:audit", move || audit(&audited)).holds(AUDITED));
    tests.push(number::test(host));
    for switch in [Switch::Asid, Switch::Tlbi, Switch::Strict] {
        let host = host.clone();
        let name = format!("compartments:call:{}", switch.name());
        tests.push(Test::beside(&name, move || call(&host, switch)));
    }
    tests
}

fn machine(switch: Switch) -> MachineArguments {
    MachineArguments {
        cpus: Some(CPUS),
        memory: Some("512M".into()),
        ..MachineArguments::virt(switch)
    }
}

/// With SVE and SME.
fn on_max() -> MachineArguments {
    MachineArguments {
        cpu: Some("max".into()),
        ..machine(Switch::Asid)
    }
}

/// One CPU that counts instructions.
fn counted(switch: Switch) -> Result<Machine> {
    Machine::new(&MachineArguments {
        cpus: Some(1),
        icount: true,
        ..machine(switch)
    })
}

/// The guest's program makes compartments and looks at them. Afterwards all memory is Linux's
/// again.
fn check(host: &HostArguments, switch: Switch) -> Result<()> {
    check_on(host, &machine(switch), "").map(drop)
}

/// A key that the module writes is in effect, each compartment has its own beside it, and it is
/// back when one was left.
fn generic_key(host: &HostArguments) -> Result<()> {
    let text = check_on(host, &on_max(), GENERIC_KEY)?;
    let mut codes = text.lines().filter_map(|line| {
        let rest = line.strip_prefix("compartment: PACGA outside ")?;
        Some(rest.split_once(',')?.0)
    });
    let native = codes.next().context("no code of a process")?;
    let written: Vec<&str> = codes.collect();
    let first = written.first().context("no code with a key")?;
    ensure!(
        written.len() == 4 && written.iter().all(|it| it == first) && *first != native,
        "a process computes {native}, and with a key that was written {written:?}"
    );
    Ok(())
}

fn check_on(host: &HostArguments, machine: &MachineArguments, more: &str) -> Result<String> {
    const SCRIPT: &str = "\
donjon-compartment check || exit 1
dmesg | grep 'WARNING: \\|BUG: ' && exit 1
exit 0
";
    let variant = InnerVariant::sound(machine.switch);
    let mut parts = prepare(host, Machine::new(machine)?, &variant)?;
    if more.contains("donjon_attack") {
        donjon_attack::arm(&mut parts)?;
    }
    let said = says(&parts.boot, &format!("{more}{SCRIPT}"), TIMEOUT);
    let text = Said::of_sound(said)?.text;
    ensure!(text.contains("compartment: all as expected"), "{text}");
    Ok(text)
}

/// Nothing is wrong at any moment, also at those at which CPUs are in compartments.
fn audit(host: &HostArguments) -> Result<()> {
    let machine = Machine::new(&machine(Switch::Asid))?;
    let parts = prepare(host, machine, &InnerVariant::sound(Switch::Asid))?;
    let subject = Subject::of(&parts)?;
    let mut audits = Series::of(&subject);
    let mut said = String::new();
    let status = qemu::exec_live(&parts.boot, BUSY, TIMEOUT, |guest, _, bytes| {
        said.push_str(&String::from_utf8_lossy(bytes));
        audits.look_if_asked(guest, bytes);
    });
    let reports = audits.judge(status, &said)?;
    let inside: usize = reports.iter().map(|it| it.cpus_in_compartments).sum();
    ensure!(
        inside > 0,
        "no CPU was in a compartment at any of {} moments",
        reports.len()
    );
    Ok(())
}

/// Calls, wiping and requests take no more than they may, and a signature is interrupted.
fn call(host: &HostArguments, switch: Switch) -> Result<()> {
    let boot = prepare(host, counted(switch)?, &InnerVariant::sound(switch))?.boot;
    let script = format!("{} && donjon-compartment bench 20", calls::command());
    let text = says(&boot, &script, TIMEOUT)?.text;
    for goal in Calls::of(&text)?.goals() {
        if !goal.is_met {
            let line = goal::line(&goal);
            return Err(Finding::Figures.error(format!("{line}:\n{text}")));
        }
    }
    let left = text
        .lines()
        .find_map(|it| it.strip_prefix("compartment: signed report left "));
    let times: Option<u64> = left.and_then(|it| it.split_whitespace().next()?.parse().ok());
    ensure!(
        times.is_some_and(|it| it > 0),
        "no interrupt came while a report was signed:\n{text}"
    );
    let most = REQUESTS.map(|what| (what, REQUEST_MAX));
    for (what, most) in [("call from user space", CALL_MAX)].into_iter().chain(most) {
        let figure = |line: &str| {
            let rest = line.strip_prefix("compartment: ")?.strip_prefix(what)?;
            rest.split_whitespace().next()?.parse::<u64>().ok()
        };
        let instructions = text.lines().find_map(figure);
        let instructions = instructions.with_context(|| format!("no {what} in:\n{text}"))?;
        if instructions > most {
            return Err(Finding::Figures.error(format!(
                "{what}: {instructions} instructions, at most {most} are allowed:\n{text}"
            )));
        }
    }
    Ok(())
}
