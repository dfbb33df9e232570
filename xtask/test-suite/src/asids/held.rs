// SPDX-License-Identifier: MIT OR Apache-2.0
//! A roll-over of ASIDs while one CPU does not run: a host may let it stand between the moment at
//! which Linux has chosen its next process and the call that loads that process's root. The others
//! wait for it as long as it takes.

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use donjon_audit::Subject;
use donjon_audit::linux;
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::run::prepare;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::gdb::Stub;
use donjon_machine::machine::Machine;
use donjon_machine::qemu::{self, Live, monitor};

use super::{TIMEOUT, leave_few};

/// How long one CPU does not run: longer than Linux waits without a word.
const HELD: Duration = Duration::from_secs(12);
/// The other CPUs come there as well, and one without a root keeps no ASID in use.
const TRIES: usize = 2000;
const ASID_SHIFT: u32 = 48;
/// What Linux says when it waits for long.
const WAITS: &str = "waits for another CPU's ASID";
/// Processes that take turns on the last CPU, which Linux leaves alone otherwise, and new ones on
/// the others: only the inner domain makes them wait for it. Where they wait for it all the same,
/// for a lock of Linux's or an answer to an interrupt, it is held once more.
const SCRIPT: &str = "\
echo few
donjon-wait
for turn in 1 2; do taskset 8 sh -c 'while :; do :; done' & done
for shell in 1 2 3 4 5 6; do while :; do busybox true; done & done
sleep 3
for attempt in $(seq 20); do
    echo hold
    donjon-wait
    sleep 2
    dmesg | grep 'donjon: .*ASID' && break
done
exit 0
";
const CPUS: u32 = 4;

/// Fails if a CPU gives up, or if none had to wait.
pub fn is_waited_for(host: &HostArguments) -> Result<()> {
    let machine = Machine::new(&MachineArguments {
        cpu: Some("cortex-a57".into()),
        cpus: Some(CPUS),
        memory: Some("256M".into()),
        append: Some("isolcpus=3".into()),
        ..MachineArguments::virt(Switch::Asid)
    })?;
    let variant = InnerVariant::sound(Switch::Asid);
    let parts = prepare(host, machine, &variant)?;
    let subject = Subject::of(&parts)?;
    let vmlinux = &parts.kernel.vmlinux;
    let mut said = String::new();
    let (mut few, mut held) = (None, Vec::new());
    let status = qemu::exec_live(&parts.boot, SCRIPT, TIMEOUT, |guest, _, bytes| {
        said.push_str(&String::from_utf8_lossy(bytes));
        if few.is_none() && said.contains("few\n") {
            few = Some(leave_few(&subject, guest, vmlinux));
        }
        if held.len() < said.matches("hold\n").count() {
            held.push(hold(guest, vmlinux));
        }
    });
    // A panic first: there is nothing to connect to any more.
    let status = status?;
    few.context("the guest did not start")??;
    ensure!(!held.is_empty(), "the load did not start");
    held.into_iter().collect::<Result<()>>()?;
    ensure!(status == 0, "the load failed:\n{said}");
    ensure!(said.contains(WAITS), "no CPU had to wait:\n{said}");
    Ok(())
}

/// Stops a CPU that is about to load a root, and lets the others go on for a while.
fn hold(guest: &Live<'_>, vmlinux: &Path) -> Result<()> {
    monitor::stop(guest.monitor)?;
    let held = hold_stopped(guest, vmlinux);
    monitor::resume(guest.monitor)?;
    held
}

fn hold_stopped(guest: &Live<'_>, vmlinux: &Path) -> Result<()> {
    let place = linux::addresses(vmlinux)?("donjon_switch_root")?;
    let mut stub = Stub::connect(guest.gdb)?;
    let mut cpus = stub.cpus()?;
    let last = cpus.pop().context("there is no CPU")?;
    stop_at(&mut stub, &last, place)?;
    let others: Vec<_> = cpus.iter().map(|it| format!("c:{it}")).collect();
    stub.start(&format!("vCont;{}", others.join(";")))?;
    thread::sleep(HELD);
    stub.interrupt()
}

/// Lets the machine run until a CPU comes to `place` with a root and an ASID that it will give up.
fn stop_at(stub: &mut Stub, cpu: &str, place: u64) -> Result<()> {
    for _ in 0..TRIES {
        stub.okay(&format!("Z1,{place:x},4"))?;
        let stop = stub.call("vCont;c")?;
        stub.okay(&format!("z1,{place:x},4"))?;
        let stopped = stop
            .split_once("thread:")
            .and_then(|(_, rest)| rest.split(';').next())
            .with_context(|| format!("no CPU stopped: {stop}"))?;
        if stopped == cpu {
            stub.select(cpu)?;
            let ttbr0 = stub.system(&["TTBR0_EL1"])?.context("no TTBR0_EL1")?;
            let next = stub.register(1)?;
            if next != 0 && ttbr0 >> ASID_SHIFT != 0 && ttbr0 >> ASID_SHIFT != next {
                return Ok(());
            }
        }
        stub.call(&format!("vCont;s:{stopped}"))?;
    }
    bail!("in {TRIES} tries the CPU gave no ASID up")
}
