// SPDX-License-Identifier: MIT OR Apache-2.0
//! Roll-over of ASIDs: Linux gives the same few to new processes again and again, and every
//! process still has its own memory.

mod few;
mod held;

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use donjon_audit::{Report, Subject, expect_clean, of_stopped};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::run::prepare;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::qemu::{self, Live, monitor};

use few::{Asids, LEAST};

use super::test::Test;

const TIMEOUT: Duration = Duration::from_secs(1200);
/// Modes, CPU models and how many.
const MACHINES: [(Switch, &str, u32); 3] = [
    (Switch::Asid, "cortex-a57", 1),
    (Switch::Asid, "cortex-a57", 4),
    (Switch::Tlbi, "cortex-a53", 4),
];
/// Fewer generations than this would show little.
const GENERATIONS: u64 = 100;
/// Shell script with more processes than CPUs, and threads that keep a root on several CPUs. A CPU
/// may have to wait for an ASID; nothing else is refused. The processes at the end are for the
/// generations: 700 need enough of them on any host.
const SCRIPT: &str = "\
echo few
donjon-wait
donjon-load stress --seconds 15 --cpus 6 && donjon-load fork threads shared-memory || exit 1
for process in $(seq 700); do busybox true; done
grep refusals: /sys/kernel/security/donjon/status
tail -n +2 /sys/kernel/security/donjon/refusals | grep -v 'ASID is reserved or taken' && exit 1
echo end
donjon-wait
exit 0
";

/// A test for each machine.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let test = |(switch, cpu, cpus): (Switch, &'static str, u32)| {
        let host = host.clone();
        let name = format!("asids:roll-over:{}:{cpu}:{cpus}", switch.name());
        Test::beside(&name, move || rolls_over(&host, switch, cpu, cpus))
            .holds(&["I9"])
            .long_if((switch, cpus) != (Switch::Asid, 4))
    };
    let mut tests: Vec<_> = MACHINES.into_iter().map(test).collect();
    let host = host.clone();
    tests.push(Test::beside("asids:held", move || held::is_waited_for(&host)).holds(&["I9"]));
    tests
}

/// What was seen at the end.
struct RollOver {
    report: Report,
    generations: Result<u64>,
}

fn rolls_over(host: &HostArguments, switch: Switch, cpu: &str, cpus: u32) -> Result<()> {
    let machine = Machine::new(&MachineArguments {
        cpu: Some(cpu.into()),
        cpus: Some(cpus),
        memory: Some("256M".into()),
        ..MachineArguments::virt(switch)
    })?;
    let variant = InnerVariant::sound(switch);
    let parts = prepare(host, machine, &variant)?;
    let subject = Subject::of(&parts)?;
    let mut said = String::new();
    let mut first = None;
    let mut end = None;
    let status = qemu::exec_live(&parts.boot, SCRIPT, TIMEOUT, |guest, _, bytes| {
        said.push_str(&String::from_utf8_lossy(bytes));
        if first.is_none() && said.contains("few\n") {
            first = Some(leave_few(&subject, guest, &parts.kernel.vmlinux));
        }
        if end.is_none()
            && said.contains("end\n")
            && let Some(Ok((asids, before))) = &first
        {
            end = Some(look(&subject, guest, asids, *before));
        }
    });
    // A violation first, whatever failed beside it.
    if let Some(Ok(end)) = &end {
        expect_clean(&end.report)?;
    }
    let status = status?;
    first.context("the guest did not start")??;
    ensure!(status == 0, "the load failed:\n{said}");
    let generations = end.context("the guest did not end")??.generations?;
    let waits = said.lines().find(|it| it.starts_with("refusals: "));
    println!("{generations} generations, {}", waits.unwrap_or("?"));
    ensure!(
        generations >= GENERATIONS,
        "only {generations} generations of ASIDs"
    );
    Ok(())
}

/// Leaves Linux as few ASIDs as it can do with; also gives the generation of that moment.
pub fn leave_few(
    subject: &Subject,
    guest: &Live<'_>,
    vmlinux: &std::path::Path,
) -> Result<(Asids, u64)> {
    monitor::stop(guest.monitor)?;
    let left = of_stopped(subject, guest).and_then(|snapshot| {
        let asids = Asids::find(vmlinux, &snapshot)?;
        asids.leave(&snapshot, guest, LEAST)?;
        let generation = asids.generation(&snapshot)?;
        Ok((asids, generation))
    });
    monitor::resume(guest.monitor)?;
    left
}

fn look(subject: &Subject, guest: &Live<'_>, asids: &Asids, before: u64) -> Result<RollOver> {
    let (report, _) = donjon_audit::live(subject, guest, None)?;
    let snapshot = donjon_audit::snapshot(subject, guest);
    let now = snapshot.and_then(|it| asids.generation(&it));
    Ok(RollOver {
        report,
        generations: now.map(|it| it - before),
    })
}
