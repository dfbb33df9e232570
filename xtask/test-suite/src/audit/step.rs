// SPDX-License-Identifier: MIT OR Apache-2.0
//! Violations that are values of registers.
//!
//! QEMU's gdb stub shows system registers and does not write them. So the CPU writes them: one
//! instruction is put where a CPU stands at EL1, stepped over, and taken away again.

use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use donjon_audit::memory::Memory;
use donjon_audit::{Snapshot, Subject, of_stopped};
use donjon_machine::gdb::{PC, Stub};
use donjon_machine::qemu::{Live, monitor};

/// PSTATE.M: EL1 with SP_EL1.
const EL1H: u64 = 0b0101;
/// How often a CPU is looked for that runs the kernel's code.
const TRIES: u32 = 100;

/// Bytes of the vectors.
const VECTORS: u64 = 0x800;
const NOP: u32 = 0xd503_201f;
/// How often a step is asked for. QEMU may come back from one without having done anything.
const STEPS: u32 = 8;

/// A register that can be written with MSR.
#[derive(Clone, Copy)]
pub struct Register {
    /// Name of the register.
    pub name: &'static str,
    /// MSR from x0.
    write: u32,
}

/// SCTLR_EL1.
pub const SCTLR: Register = Register {
    name: "SCTLR_EL1",
    write: 0xd518_1000,
};
/// TTBR0_EL1.
pub const TTBR0: Register = Register {
    name: "TTBR0_EL1",
    write: 0xd518_2000,
};
/// TCR_EL1.
pub const TCR: Register = Register {
    name: "TCR_EL1",
    write: 0xd518_2040,
};
/// VBAR_EL1.
pub const VBAR: Register = Register {
    name: "VBAR_EL1",
    write: 0xd518_c000,
};

/// What is changed: bits that a standing machine does not feel.
pub const REGISTERS: [(Register, u64); 5] = [
    // CnP.
    (TTBR0, 1),
    (
        Register {
            name: "TTBR1_EL1",
            write: 0xd518_2020,
        },
        1,
    ),
    // TBI1.
    (TCR, 1 << 38),
    (VBAR, 1 << 11),
    (
        Register {
            name: "MAIR_EL1",
            write: 0xd518_a200,
        },
        0xff << 56,
    ),
];

/// A CPU that stands at an instruction.
pub struct Busy {
    name: String,
    pub(super) pc: u64,
    /// Where that is in memory, and what stands there.
    at: u64,
    instruction: u32,
}

/// Finds one; lets the machine run a little as long as there is none.
pub fn busy(subject: &Subject, guest: &Live<'_>) -> Result<Busy> {
    for _ in 0..TRIES {
        let snapshot = of_stopped(subject, guest)?;
        if let Some(busy) = among(&snapshot, guest)? {
            return Ok(busy);
        }
        monitor::resume(guest.monitor)?;
        thread::sleep(Duration::from_millis(7));
        monitor::stop(guest.monitor)?;
    }
    bail!("no CPU was ever seen in the kernel")
}

fn among(snapshot: &Snapshot, guest: &Live<'_>) -> Result<Option<Busy>> {
    let linux = &snapshot.facts.linux;
    let names = Stub::connect(guest.gdb)?.cpus()?;
    for (cpu, name) in snapshot.cpus.iter().zip(names) {
        // One that stands at a vector has an exception on its way, and would not step.
        let at_vector = (linux.vectors..linux.vectors + VECTORS).contains(&cpu.pc);
        if at_vector || !linux.text.contains(&cpu.pc) || cpu.pstate & 0xf != EL1H {
            continue;
        }
        let busy = Busy::at(&*snapshot.memory, name, cpu.pc, linux.to_physical(cpu.pc))?;
        let (at, instruction) = (busy.at, busy.instruction);
        // A CPU that waits would not step.
        let previous = snapshot.memory.word((at - 4) & !7).unwrap_or(0);
        let before = (previous >> (8 * ((at - 4) & 4))) as u32;
        if is_wait(instruction) || is_wait(before) {
            continue;
        }
        if busy.execute(guest, NOP, 0)? == busy.pc + 4 {
            return Ok(Some(busy));
        }
    }
    Ok(None)
}

/// WFE and WFI.
const fn is_wait(instruction: u32) -> bool {
    matches!(instruction, 0xd503_205f | 0xd503_207f)
}

impl Busy {
    /// A CPU at the virtual address `pc`, which is at `at` in memory.
    pub(super) fn at(memory: &dyn Memory, name: String, pc: u64, at: u64) -> Result<Self> {
        let pair = memory.word(at & !7).context("the code is not in RAM")?;
        Ok(Self {
            name,
            pc,
            at,
            instruction: (pair >> (8 * (at & 4))) as u32,
        })
    }

    /// The CPU after it has moved to other addresses.
    pub(super) fn moved(&self, memory: &dyn Memory, pc: u64, at: u64) -> Result<Self> {
        Self::at(memory, self.name.clone(), pc, at)
    }

    /// Flips `bits` of `register`.
    pub fn toggle(&self, guest: &Live<'_>, register: Register, bits: u64) -> Result<()> {
        let mut stub = Stub::connect(guest.gdb)?;
        stub.select(&self.name)?;
        let value = stub.system(&[register.name, register.name.trim_end_matches("_EL1")])?;
        let value = value.with_context(|| format!("no register {}", register.name))? ^ bits;
        drop(stub);
        let after = self.execute(guest, register.write, value)?;
        ensure!(
            after == self.pc + 4,
            "the CPU stepped to {after:#x} and not over {:#x}",
            self.pc
        );
        Ok(())
    }

    /// Executes one instruction with a value in x0, and puts everything back. Returns where it
    /// led.
    fn execute(&self, guest: &Live<'_>, instruction: u32, value: u64) -> Result<u64> {
        let after = self.go(guest, instruction, value)?;
        self.stand(guest)?;
        Ok(after)
    }

    /// Has the CPU stand at its address again.
    pub(super) fn stand(&self, guest: &Live<'_>) -> Result<()> {
        let mut stub = Stub::connect(guest.gdb)?;
        stub.select(&self.name)?;
        stub.set_register(PC, self.pc)
    }

    /// Executes one instruction with a value in x0, and puts memory and x0 back. Returns where it
    /// led.
    pub(super) fn go(&self, guest: &Live<'_>, instruction: u32, value: u64) -> Result<u64> {
        let mut stub = Stub::connect(guest.gdb)?;
        stub.select(&self.name)?;
        let x0 = stub.register(0)?;
        stub.write_physical(self.at, &instruction.to_le_bytes())?;
        stub.set_register(0, value)?;
        stub.set_register(PC, self.pc)?;
        let mut after = self.pc;
        for _ in 0..STEPS {
            let stopped = stub.call(&format!("vCont;s:{}", self.name))?;
            ensure!(stopped.starts_with('T'), "the CPU did not step: {stopped}");
            stub.select(&self.name)?;
            after = stub.register(PC)?;
            if after != self.pc {
                break;
            }
        }
        stub.write_physical(self.at, &self.instruction.to_le_bytes())?;
        stub.set_register(0, x0)?;
        Ok(after)
    }
}
