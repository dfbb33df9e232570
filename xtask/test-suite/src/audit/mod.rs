// SPDX-License-Identifier: MIT OR Apache-2.0
//! The auditor on running guests: they are clean, and what is injected into one is named.
//!
//! The host tests of the auditor do the same with a machine that is made up; here the tables and
//! registers are real.

pub mod injected;
pub mod inside;
mod step;

use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use donjon_audit::{Report, Series, Snapshot, Subject, of_stopped};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::run::{self, Parts};
use donjon_machine::arguments::{Dma, MachineArguments, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::qemu::{self, Live, monitor};

use super::test::Test;

use injected::{Injected, Site};

/// Long enough for a host that is busy: only a hang takes it.
const TIMEOUT: Duration = Duration::from_secs(1200);
/// Looks under load, at intervals that nothing in the guest keeps step with.
const LOOKS: u32 = 6;
/// How often, and after which time, a machine is stopped again for the sake of its processes.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(40);
/// Busy at EL1 and at EL0, and with processes that come and go.
const LOAD: &str = "\
for worker in 1 2 3 4; do
    dd if=/dev/zero of=/dev/null bs=1M &
    while :; do :; done &
    while :; do sh -c 'ls -R /sys/kernel; cat /proc/self/maps'; done &
done >/dev/null 2>&1
";

/// A CPU that is switched off and on again.
const UNPLUG: &str = "\
while :; do
    echo 0; sleep 0.4; echo 1; sleep 0.2
done >/sys/devices/system/cpu/cpu1/online 2>/dev/null &
";

/// What a clean guest shows, beside that the auditor has nothing to say.
const CLEAN: &[&str] = &["I16", "P2"];
/// What is violated in one guest, and named.
const INJECTED: &[&str] = &[
    "I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "I10", "I13", "I15", "I16", "P3",
];

/// Clean in every mode; and every invariant violated in one guest.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let mut tests = Vec::new();
    for switch in [Switch::Asid, Switch::Tlbi, Switch::Strict] {
        for cpus in [1, 4] {
            let host = host.clone();
            let name = format!("audit:clean:{}:{cpus}", switch.name());
            let test = Test::beside(&name, move || is_clean(&host, &machine(switch, cpus)));
            // What one CPU does, each of four does as well.
            tests.push(test.long_if(cpus == 1));
        }
    }
    let at_el2 = host.clone();
    let el2 = Test::beside("audit:clean:asid:4:el2", move || {
        let machine = MachineArguments {
            el2: true,
            ..machine(Switch::Asid, 4)
        };
        is_clean(&at_el2, &machine)
    });
    tests.push(el2.holds(&["I17"]));
    let on_board = host.clone();
    tests.push(Test::beside("audit:clean:raspi3b", move || {
        let machine = MachineArguments {
            machine: "raspi3b".into(),
            ..MachineArguments::virt(Switch::Asid)
        };
        is_clean(&on_board, &machine)
    }));
    let in_open = host.clone();
    tests.push(Test::beside("audit:clean:asid:2:dma-open", move || {
        let machine = MachineArguments {
            dma: Some(Dma::Open),
            ..machine(Switch::Asid, 2)
        };
        is_clean(&in_open, &machine)
    }));
    let with_dma = host.clone();
    let open = Test::beside("audit:clean:raspi3b:dma-open", move || {
        let machine = MachineArguments {
            machine: "raspi3b".into(),
            dma: Some(Dma::Open),
            ..MachineArguments::virt(Switch::Asid)
        };
        is_clean(&with_dma, &machine)
    });
    tests.push(open.long());
    let with_its = host.clone();
    tests.push(Test::beside("audit:clean:gicv3", move || {
        let machine = MachineArguments {
            machine: "virt-gicv3".into(),
            ..machine(Switch::Asid, 2)
        };
        is_clean(&with_its, &machine)
    }));
    let host = host.clone();
    let mut tests: Vec<Test> = tests.into_iter().map(|it| it.holds(CLEAN)).collect();
    tests.push(Test::beside("audit:planted", move || names_injected(&host)).holds(INJECTED));
    tests
}

fn machine(switch: Switch, cpus: u32) -> MachineArguments {
    MachineArguments {
        cpus: Some(cpus),
        memory: Some("256M".into()),
        ..MachineArguments::virt(switch)
    }
}

fn prepare(host: &HostArguments, arguments: &MachineArguments) -> Result<(Parts, Subject)> {
    let machine = Machine::new(arguments)?;
    let parts = run::prepare(host, machine, &InnerVariant::sound(arguments.switch))?;
    let subject = Subject::of(&parts)?;
    Ok((parts, subject))
}

/// At the end of boot, then again and again under load.
pub fn is_clean(host: &HostArguments, machine: &MachineArguments) -> Result<()> {
    let (parts, subject) = prepare(host, machine)?;
    let cpus = parts.boot.machine.cpus;
    let looks: String = (0..LOOKS)
        .map(|it| format!("sleep 0.{}\necho look\ndonjon-wait\n", 3 + 7 * it % 10))
        .collect();
    let unplug = if cpus > 1 { UNPLUG } else { "" };
    let script = format!("echo look\ndonjon-wait\n{LOAD}{unplug}{looks}exit 0\n");
    let mut audits = Series::of(&subject);
    let mut said = String::new();
    let status = qemu::exec_live(&parts.boot, &script, TIMEOUT, |guest, _, bytes| {
        said.push_str(&String::from_utf8_lossy(bytes));
        audits.look_if_asked(guest, bytes);
    });
    let reports = audits.judge(status, &said)?;
    ensure!(reports.len() > 1, "there was no audit under load");
    for report in reports {
        ensure!(
            // One may be on its way in.
            report.cpus + 1 >= cpus as usize
                && report.cpus > 0
                && report.leaves > 100
                && report.code_bytes > 1 << 20,
            "it did not look at much:\n{report}"
        );
    }
    Ok(())
}

/// Injects one violation after the other in a stopped guest, and takes each out again. The guest
/// then runs to its end.
fn names_injected(host: &HostArguments) -> Result<()> {
    let machine = MachineArguments {
        ..machine(Switch::Asid, 4)
    };
    let (parts, subject) = prepare(host, &machine)?;
    let script = format!("{LOAD}sleep 2; echo ready; donjon-wait; exit 0\n");
    let mut outcome = None;
    let status = qemu::exec_live(&parts.boot, &script, TIMEOUT, |guest, _, _| {
        outcome.get_or_insert_with(|| {
            let (snapshot, ()) = stop_when(&subject, guest, |it| Site::of(it).map(drop))?;
            let injected = inject_all(&subject, guest, &snapshot);
            monitor::resume(guest.monitor)?;
            injected
        });
    });
    outcome.context("the guest said nothing")??;
    ensure!(
        status? == 0,
        "the guest did not survive what was taken out again"
    );
    Ok(())
}

/// Stops the machine at a moment at which `find` finds something.
pub fn stop_when<T>(
    subject: &Subject,
    guest: &Live<'_>,
    find: impl Fn(&Snapshot) -> Result<T>,
) -> Result<(Snapshot, T)> {
    let mut tries = 0;
    loop {
        monitor::stop(guest.monitor)?;
        let snapshot = of_stopped(subject, guest)?;
        tries += 1;
        match find(&snapshot) {
            Ok(found) => return Ok((snapshot, found)),
            Err(why) if tries == TRIES => return Err(why),
            Err(_) => monitor::resume(guest.monitor)?,
        }
        thread::sleep(PAUSE);
    }
}

fn inject_all(subject: &Subject, guest: &Live<'_>, snapshot: &Snapshot) -> Result<()> {
    let look = || anyhow::Ok(donjon_audit::of(&of_stopped(subject, guest)?));
    let before = donjon_audit::of(snapshot);
    let site = Site::of(snapshot)?;
    let violations = injected::all(&site);
    let mut missed = missed(subject, guest, snapshot, &violations)?;
    nothing_is_left(&look()?, &before)?;
    for (register, bits) in step::REGISTERS {
        let cpu = step::busy(subject, guest)?;
        // It may have taken some time to find one.
        let before = look()?;
        cpu.toggle(guest, register, bits)?;
        let report = look();
        cpu.toggle(guest, register, bits)?;
        let report = report?;
        let new = report.new_since(&before);
        if !new
            .iter()
            .any(|it| it.invariant == "I6" && it.text.contains(register.name))
        {
            missed.push(format!("I6, {}", register.name));
        }
        nothing_is_left(&look()?, &before)?;
    }
    ensure!(missed.is_empty(), "not named:\n{}", missed.join("\n"));
    Ok(())
}

/// Injects each of them into a stopped guest, and takes it out again; those that are not named.
pub fn missed(
    subject: &Subject,
    guest: &Live<'_>,
    snapshot: &Snapshot,
    violations: &[Injected],
) -> Result<Vec<String>> {
    let before = donjon_audit::of(snapshot);
    let memory = &*snapshot.memory;
    let mut missed = Vec::new();
    for violation in violations {
        let old = injected::write(memory, guest, &violation.words)?;
        let report = of_stopped(subject, guest).map(|it| donjon_audit::of(&it));
        injected::write(memory, guest, &old)?;
        let report = report?;
        let new = report.new_since(&before);
        if !new
            .iter()
            .any(|it| it.invariant == violation.invariant && !it.owner.is_empty())
        {
            missed.push(format!("{}, {}", violation.invariant, violation.what));
        }
    }
    Ok(missed)
}

/// Nothing is wrong that was not before.
pub fn nothing_is_left(now: &Report, before: &Report) -> Result<()> {
    let left: Vec<String> = now
        .new_since(before)
        .iter()
        .map(|it| it.to_string())
        .collect();
    ensure!(left.is_empty(), "still there:\n{}", left.join("\n"));
    Ok(())
}
