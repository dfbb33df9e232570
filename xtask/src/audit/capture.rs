// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a running QEMU to a [`Snapshot`].

use std::rc::Rc;

use anyhow::{Context, Result};

use super::code::AllowList;
use super::devices;
use super::gdb::Stub;
use super::linux::{self, Said};
use super::memory::Copied;
use super::snapshot::{Cpu, Facts, Linux, Snapshot};
use crate::cli::Switch;
use crate::paths;
use crate::qemu::{Live, monitor};
use crate::run::Parts;

/// Numbers of general registers in gdb's protocol.
const PC: usize = 32;
const PSTATE: usize = 33;
/// Registers that a CPU may have and that would change what translation means.
const EXTENSIONS: [&str; 5] = ["TCR2_EL1", "SCTLR2_EL1", "PIR_EL1", "PIRE0_EL1", "POR_EL1"];

/// What is known of a machine before it starts.
pub struct Subject {
    machinery: devices::Machinery,
    linux: Linux,
    stay: std::ops::Range<u64>,
    allowed: AllowList,
    gate_writes: usize,
}

impl Subject {
    /// Of what `parts` boot. There must be an inner domain.
    pub fn of(parts: &Parts) -> Result<Self> {
        let bare = parts
            .bare
            .as_ref()
            .context("without an inner domain (--switch none) there is nothing to audit")?;
        let machine = &parts.boot.machine;
        Ok(Self {
            machinery: devices::of(machine)?,
            linux: linux::symbols(&parts.kernel.vmlinux)?,
            stay: linux::stay(&bare.boot)?,
            allowed: AllowList::read(&paths::in_root("kernel-patch/allow-list.toml"))?,
            gate_writes: if machine.switch == Switch::Strict {
                3
            } else {
                1
            },
        })
    }

    fn facts(&self, console: &[u8]) -> Result<Facts> {
        let said = Said::read(console)?;
        linux::check(&said)?;
        let stay = said.loaded + self.stay.start..said.loaded + self.stay.end;
        Ok(Facts {
            ram: self.machinery.ram.clone(),
            inner: vec![said.inner, stay],
            table_pools: said.table_pools,
            text_pools: said.text_pools,
            devices: self.machinery.devices.clone(),
            withheld: self.machinery.withheld.clone(),
            linux: Linux {
                physical: said.linux,
                ..self.linux.clone()
            },
            allowed: self.allowed.clone(),
            gate_writes: self.gate_writes,
        })
    }
}

/// Stops the machine, copies what an audit needs, and lets it go on.
pub fn snapshot(subject: &Subject, live: &Live<'_>) -> Result<Snapshot> {
    monitor::stop(live.monitor)?;
    let taken = of_stopped(subject, live);
    monitor::resume(live.monitor)?;
    taken
}

/// The same of a machine that somebody else has stopped, and leaves it so.
pub fn of_stopped(subject: &Subject, live: &Live<'_>) -> Result<Snapshot> {
    let facts = subject.facts(live.console)?;
    let memory = Copied::from_machine(live.monitor, &facts.ram)?;
    let mut stub = Stub::connect(live.gdb)?;
    let mut cpus = Vec::new();
    for (number, name) in (0..).zip(stub.cpus()?) {
        stub.select(&name)?;
        cpus.push(cpu(&mut stub, number).with_context(|| format!("registers of CPU {number}"))?);
    }
    Ok(Snapshot {
        facts: Rc::new(facts),
        cpus,
        memory: Box::new(memory),
    })
}

fn cpu(stub: &mut Stub, number: u32) -> Result<Cpu> {
    let mut system = |names: &[&str]| {
        let value = stub.system(names)?;
        value.with_context(|| format!("QEMU's gdb stub does not show {}", names[0]))
    };
    // QEMU names those that AArch32 shares after the AArch32 ones.
    let mut cpu = Cpu {
        number,
        ttbr0: system(&["TTBR0_EL1"])?,
        ttbr1: system(&["TTBR1_EL1"])?,
        tcr: system(&["TCR_EL1"])?,
        sctlr: system(&["SCTLR_EL1", "SCTLR"])?,
        vbar: system(&["VBAR_EL1", "VBAR"])?,
        mair: system(&["MAIR_EL1"])?,
        ..Cpu::default()
    };
    for name in EXTENSIONS {
        if let Some(value) = stub.system(&[name])? {
            cpu.extensions.push((name.to_owned(), value));
        }
    }
    cpu.pc = stub.register(PC)?;
    cpu.pstate = stub.register(PSTATE)?;
    // Just as a reset left it: nobody has started it.
    cpu.off = cpu.sctlr & 1 == 0 && cpu.pc == 0 && cpu.ttbr1 == 0;
    Ok(cpu)
}
