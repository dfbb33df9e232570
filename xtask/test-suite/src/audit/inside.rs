// SPDX-License-Identifier: MIT OR Apache-2.0
//! Violations that are values of registers while a compartment runs.
//!
//! At EL0 nothing writes them. So a CPU that stands in a compartment executes an SVC that is put
//! there, stands at the inner domain's vector then, with all that a compartment runs with, and
//! executes what is put there. An ERET takes it back.

use anyhow::{Context, Result, ensure};
use donjon_abi::tcr::{INSIDE, OUTER};
use donjon_audit::walk::{translate, translate_lower};
use donjon_audit::{Report, Snapshot, Subject, of_stopped};
use donjon_machine::gdb::Stub;
use donjon_machine::qemu::Live;

use super::step::{self, Busy, Register, SCTLR, TCR, TTBR0, VBAR};

const SVC: u32 = 0xd400_0001;
const ERET: u32 = 0xd69f_03e0;
/// The vector of a synchronous exception from EL0 in AArch64 (DDI 0487, D1.3.1.5).
const SYNCHRONOUS: u64 = 0x400;
/// SCTLR_EL1.EnIA.
const ENIA: u64 = 1 << 31;

/// A CPU on its way out of a compartment: at EL1, and nothing has changed yet.
pub struct Inside {
    program: Busy,
    vector: Busy,
    /// What it has to become to be Linux's.
    vbar: u64,
}

/// The index of a CPU that stands in a compartment.
pub fn find(snapshot: &Snapshot) -> Result<usize> {
    let mut cpus = snapshot.cpus.iter();
    let found = cpus.position(|it| it.tcr == INSIDE && it.pstate & 0xf == 0);
    found.context("no CPU is in a compartment")
}

impl Inside {
    /// Takes a CPU of a stopped machine out of its compartment, as far as the vector.
    pub fn enter(snapshot: &Snapshot, guest: &Live<'_>) -> Result<Self> {
        let number = find(snapshot)?;
        let memory = &*snapshot.memory;
        let cpu = &snapshot.cpus[number];
        let names = Stub::connect(guest.gdb)?.cpus()?;
        let name = names.get(number).context("a CPU has no name")?.clone();
        let leaf = translate_lower(memory, cpu.user_root(), cpu.pc);
        let leaf = leaf.context("a PC that is not mapped")?;
        let program = Busy::at(memory, name, cpu.pc, leaf.pa + (cpu.pc - leaf.va))?;
        let there = cpu.vbar + SYNCHRONOUS;
        let leaf = translate(memory, cpu.kernel_root(), there, true);
        let leaf = leaf.context("the vectors are not mapped")?;
        let vector = program.moved(memory, there, leaf.pa + (there - leaf.va))?;
        let after = program.go(guest, SVC, 0)?;
        ensure!(
            after == there,
            "SVC led to {after:#x} and not to {there:#x}"
        );
        Ok(Self {
            program,
            vector,
            vbar: cpu.vbar ^ snapshot.facts.linux.vectors,
        })
    }

    /// What is changed, in words and as bits of a register.
    const fn changes(&self) -> [(&'static str, Register, u64); 6] {
        [
            ("another ASID", TTBR0, 1 << 48),
            ("a frame that is no root", TTBR0, 1 << 12),
            ("a TLB that CPUs share", TTBR0, 1),
            ("Linux's vectors", VBAR, self.vbar),
            ("vectors beside the inner domain's", VBAR, 1 << 11),
            ("Linux's keys", SCTLR, ENIA),
        ]
    }

    /// Makes each change and takes it back; those that the auditor did not name.
    pub fn missed(&self, subject: &Subject, guest: &Live<'_>) -> Result<Vec<String>> {
        let before = look(subject, guest)?;
        let mut missed = Vec::new();
        for (what, register, bits) in self.changes() {
            missed.extend(plant(
                subject,
                guest,
                &before,
                &self.vector,
                (what, register, bits),
            )?);
        }
        Ok(missed)
    }

    /// Lets the compartment go on where it was.
    pub fn leave(self, guest: &Live<'_>) -> Result<()> {
        let after = self.vector.go(guest, ERET, 0)?;
        // What it returns to stands behind the SVC.
        let there = self.program.pc + 4;
        ensure!(
            after == there,
            "ERET led to {after:#x} and not to {there:#x}"
        );
        self.program.stand(guest)
    }
}

/// The one constant that a compartment alone has, while Linux runs; not named if there is a word.
pub fn missed_of_linux(subject: &Subject, guest: &Live<'_>) -> Result<Option<String>> {
    let cpu = step::busy(subject, guest)?;
    let before = look(subject, guest)?;
    let change = ("a compartment's TCR_EL1 in Linux", TCR, OUTER ^ INSIDE);
    plant(subject, guest, &before, &cpu, change)
}

fn look(subject: &Subject, guest: &Live<'_>) -> Result<Report> {
    Ok(donjon_audit::of(&of_stopped(subject, guest)?))
}

fn plant(
    subject: &Subject,
    guest: &Live<'_>,
    before: &Report,
    cpu: &Busy,
    (what, register, bits): (&str, Register, u64),
) -> Result<Option<String>> {
    cpu.toggle(guest, register, bits)?;
    let report = look(subject, guest);
    cpu.toggle(guest, register, bits)?;
    let report = report?;
    let mut new = report.new_since(before).into_iter();
    let is_named = new.any(|it| it.invariant == "I21");
    Ok((!is_named).then(|| format!("I21, {what}")))
}
