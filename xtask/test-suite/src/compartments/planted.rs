// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the auditor says of compartments, in a guest in which it is so.

use anyhow::{Context, Result, ensure};
use donjon_audit::descriptor::{Entry, read};
use donjon_audit::memory::Memory;
use donjon_audit::walk::{Space, Walks};
use donjon_audit::{Snapshot, Subject, of_stopped};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::run::prepare;
use donjon_machine::arguments::Switch;
use donjon_machine::machine::Machine;
use donjon_machine::qemu::{self, Live, monitor};

use super::super::audit::injected::{DATA, Injected, NOT_LINEAR, READ_ONLY, UXN, free_entry};
use super::super::audit::inside::{self, Inside};
use super::super::audit::{missed, nothing_is_left, stop_when};
use super::super::test::Test;
use super::{TIMEOUT, machine};

/// Two compartments at least, which are there until the host has injected everything, and Linux at
/// EL1.
const SCRIPT: &str = "\
spins=
for cpu in 0 1 2 3; do
    donjon-compartment spin 3600 &
    spins=\"$spins $!\"
done
for load in 1 2; do dd if=/dev/zero of=/dev/null bs=1M & done
sleep 2
echo ready
donjon-wait
kill $spins
exit 0
";

pub fn test(host: &HostArguments) -> Test {
    let host = host.clone();
    Test::beside("compartments:planted", move || {
        let machine = Machine::new(&machine(Switch::Asid))?;
        let parts = prepare(&host, machine, &InnerVariant::sound(Switch::Asid))?;
        let subject = Subject::of(&parts)?;
        let mut outcome = None;
        let status = qemu::exec_live(&parts.boot, SCRIPT, TIMEOUT, |guest, _, _| {
            outcome.get_or_insert_with(|| inject(&subject, guest));
        });
        outcome.context("the guest said nothing")??;
        ensure!(
            status? == 0,
            "the guest did not survive what was taken out again"
        );
        Ok(())
    })
    .holds(super::AUDITED)
}

fn inject(subject: &Subject, guest: &Live<'_>) -> Result<()> {
    let find = |it: &Snapshot| Ok((all(it)?, inside::find(it)?));
    let (snapshot, (violations, _)) = stop_when(subject, guest, find)?;
    let before = donjon_audit::of(&snapshot);
    let mut missed = missed(subject, guest, &snapshot, &violations)?;
    let inside = Inside::enter(&snapshot, guest)?;
    missed.extend(inside.missed(subject, guest)?);
    inside.leave(guest)?;
    let after = donjon_audit::of(&of_stopped(subject, guest)?);
    missed.extend(inside::missed_of_linux(subject, guest)?);
    monitor::resume(guest.monitor)?;
    ensure!(missed.is_empty(), "not named:\n{}", missed.join("\n"));
    nothing_is_left(&after, &before)
}

/// The violations, where this guest has a place for each.
fn all(snapshot: &Snapshot) -> Result<Vec<Injected>> {
    let memory = &*snapshot.memory;
    let facts = &snapshot.facts;
    let mut roots = facts.compartments.values();
    let (one, other) = roots
        .next()
        .zip(roots.next())
        .context("no two compartments")?;
    let page = |root: u64| page_of(memory, root, false).context("a compartment has no data");
    let ((entry, word), (_, others)) = (page(*one)?, page(*other)?);
    let constant = page_of(memory, *other, true)
        .context("a compartment has no code")?
        .1;
    let free = facts.private.iter().find(|(_, owner)| **owner == 0);
    let (free, _) = free.context("no private frame is free")?;
    let kernel = kernel_entry(snapshot)?;
    let inject = Injected::word;
    Ok(vec![
        inject(
            "I19",
            "a page of a compartment, for the kernel",
            kernel,
            frame(word) | DATA,
        ),
        inject(
            "I19",
            "a free private frame, read-only",
            kernel,
            *free | DATA | READ_ONLY,
        ),
        inject(
            "I20",
            "another one's page",
            entry,
            word - frame(word) + frame(others),
        ),
        inject(
            "I20",
            "another one's code in place of data",
            entry,
            constant,
        ),
        inject(
            "I20",
            "a free private frame",
            entry,
            word - frame(word) + *free,
        ),
        inject("I20", "writable and executable", entry, word & !UXN),
        inject(
            "I20",
            "an entry beyond the end",
            *one + 8 * 300,
            frame(word) | 3,
        ),
        inject("I22", "a word in a free frame", *free + 0x7f8, 1),
    ])
}

const fn frame(word: u64) -> u64 {
    word & 0xffff_ffff_f000
}

/// The first page of a compartment that it may write, or may not: its entry's address and the
/// entry.
fn page_of(memory: &dyn Memory, root: u64, is_constant: bool) -> Option<(u64, u64)> {
    first_page(memory, root, 0, is_constant)
}

fn first_page(memory: &dyn Memory, table: u64, level: u8, is_constant: bool) -> Option<(u64, u64)> {
    (0..512).map(|it| table + 8 * it).find_map(|at| {
        let word = memory.word(at)?;
        match read(word, level) {
            Entry::Table(below) => first_page(memory, below, level + 1, is_constant),
            Entry::Leaf(_) if (word & READ_ONLY != 0) == is_constant => Some((at, word)),
            _ => None,
        }
    })
}

fn kernel_entry(snapshot: &Snapshot) -> Result<u64> {
    let memory = &*snapshot.memory;
    let cpu = snapshot.running().next().context("no CPU runs")?;
    let mut walks = Walks::new(memory);
    walks.kernel(cpu.kernel_root());
    free_entry(memory, &walks, Space::Kernel, NOT_LINEAR)
}
