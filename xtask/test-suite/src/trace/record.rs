// SPDX-License-Identifier: MIT OR Apache-2.0
//! A Linux under load, over an inner domain that writes down its steps.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use donjon_audit::Subject;
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::disk;
use donjon_builder::run::prepare;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::qemu::{self, DiskImage};
use donjon_models::trace::{Event, Oracle};

use super::look::{Look, recorder};
use crate::asids;
use crate::scratch::Scratch;

const TIMEOUT: Duration = Duration::from_secs(1800);
/// Little memory, so that tables need more than what was reserved for them.
const MEMORY: &str = "320M";
const DISK_MEBIBYTES: u32 = 384;
const START: &str = "trace: start";
const END: &str = "trace: end";
/// A block that a process has a page of becomes a pool, and ordinary memory again.
const POOL: &str = "\
cd /sys/module/donjon_attack/parameters && echo keep-user-mapping/tables >run && echo 1 >undo; dmesg | grep attack";

/// What runs while steps are recorded.
pub struct Load {
    /// Switch mode.
    pub switch: Switch,
    /// CPU model.
    pub cpu: &'static str,
    /// How many.
    pub cpus: u32,
    /// Features of the inner domain besides the recorder.
    pub weakened: &'static [&'static str],
    /// Areas of the load program.
    pub areas: &'static str,
    /// Whether Linux has so few ASIDs that they roll over.
    pub few_asids: bool,
}

/// A trace, and the machine at two moments of it.
pub struct Recorded {
    events: Vec<Event>,
    start: Look,
    end: Look,
}

impl Recorded {
    /// Boots and records.
    pub fn new(host: &HostArguments, load: &Load) -> Result<Self> {
        let machine = Machine::new(&MachineArguments {
            cpu: Some(load.cpu.into()),
            cpus: Some(load.cpus),
            memory: Some(MEMORY.into()),
            ..MachineArguments::virt(load.switch)
        })?;
        let features = ["trace-steps"].iter().chain(load.weakened);
        let variant = InnerVariant {
            switch: load.switch,
            weakened: features.map(|it| (*it).to_owned()).collect(),
        };
        let mut parts = prepare(host, machine, &variant)?;
        donjon_attack::arm(&mut parts)?;
        let subject = Subject::of(&parts)?;
        let inner = &parts.bare.as_ref().context("no inner domain")?.inner;
        let recorder = recorder(inner)?;
        let scratch = Scratch::new()?;
        let image = scratch.path().join("disk");
        disk::ext4(&image, DISK_MEBIBYTES, None)?;
        let trace = scratch.path().join("trace");
        parts.boot.disk = Some(DiskImage::unchanged(image));
        parts.boot.trace = Some(trace.clone());

        let areas = load.areas;
        let script = format!(
            "grep weakened: /sys/kernel/security/donjon/status; \
             insmod /lib/modules/donjon_attack.ko || exit 3; \
             echo {START}; donjon-wait; donjon-load {areas}; status=$?; {POOL}; echo {END}; donjon-wait; \
             exit $status"
        );
        let mut text = Vec::new();
        let mut looks = Vec::new();
        let status = qemu::exec_live(&parts.boot, &script, TIMEOUT, |live, _, bytes| {
            text.extend(bytes);
            let said = String::from_utf8_lossy(&text);
            let due = [START, END].into_iter().filter(|mark| {
                let line = format!("{mark}\n");
                said.replace('\r', "").contains(&line)
            });
            if due.count() > looks.len() {
                let left = match load.few_asids && looks.is_empty() {
                    true => asids::leave_few(&subject, live, &parts.kernel.vmlinux).map(drop),
                    false => Ok(()),
                };
                looks.push(left.and_then(|()| Look::at(&subject, live, recorder)));
            }
        })?;
        let said = String::from_utf8_lossy(&text);
        ensure!(
            said.contains("attack keep-user-mapping/tables: ") && !said.contains("UNTRIED"),
            "no block became a pool:\n{said}"
        );
        ensure!(status == 0, "the load failed:\n{said}");
        ensure!(
            said.contains("weakened: 0x") && !said.contains("weakened: 0x0"),
            "the build passes for a normal one:\n{said}"
        );
        let mut looks = looks.into_iter();
        let start = looks.next().context("the guest did not start")??;
        let end = looks.next().context("the guest did not end")??;
        let events = Event::all(&end.trace(&trace)?);
        let events = events.context("the trace is not made of records")?;
        ensure!(
            events.len() == end.position && start.position < end.position,
            "the trace has {} records of {}",
            events.len(),
            end.position
        );
        Ok(Self { events, start, end })
    }

    /// Lets the oracle look at the steps that `keeps` keeps, by number; before the first moment
    /// it sees all of them.
    pub fn judged(&self, keeps: impl Fn(usize, &Event) -> bool) -> Result<Oracle<'_>> {
        let mut oracle = Oracle::new(self.start.arena());
        let (before, after) = self.events.split_at(self.start.position);
        before.iter().for_each(|it| oracle.step(*it));
        for (cpu, loaded) in self.start.loaded() {
            ensure!(
                oracle.loaded(cpu) == loaded,
                "CPU {cpu} has {loaded:x?}, and the trace says {:x?}",
                oracle.loaded(cpu)
            );
        }
        oracle.import(&self.start, self.start.root, &self.start.roots);
        for (at, event) in after.iter().enumerate() {
            if keeps(at, event) {
                oracle.step(*event);
            }
        }
        oracle.finish(&self.end);
        Ok(oracle)
    }
}
