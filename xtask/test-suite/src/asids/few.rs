// SPDX-License-Identifier: MIT OR Apache-2.0
//! Taking ASIDs away from a Linux that runs, from outside.

use std::path::Path;

use anyhow::{Context, Result};
use donjon_audit::Snapshot;
use donjon_audit::linux;
use donjon_audit::walk;
use donjon_machine::gdb::Stub;
use donjon_machine::qemu::Live;

/// Fewest ASIDs that Linux can do with: each of its CPUs keeps one over a roll-over, and one more
/// must be free then.
pub const LEAST: usize = 6;
/// Bytes of a bitmap of all ASIDs.
const BYTES: usize = (1 << 16) / 8;
/// Where the generation begins in the words that Linux calls context IDs.
const GENERATION_SHIFT: u32 = 16;
/// 0 stands for no ASID, and 1 is the inner domain's.
const FIRST: usize = 2;

/// What Linux keeps about ASIDs (arch/arm64/mm/context.c); physical addresses.
pub struct Asids {
    /// Bitmap of the ASIDs that are taken in this generation.
    taken: u64,
    /// Bitmap of the ASIDs that are taken at the beginning of each generation.
    pinned: u64,
    generation: u64,
}

impl Asids {
    /// Finds it, in a kernel with these symbols.
    pub fn find(vmlinux: &Path, snapshot: &Snapshot) -> Result<Self> {
        let address = linux::addresses(vmlinux)?;
        let of = |name: &str| anyhow::Ok(snapshot.facts.linux.to_physical(address(name)?));
        let bitmap = |name: &str| {
            let pointer = word(snapshot, of(name)?)?;
            let cpu = snapshot.running().next().context("no CPU runs")?;
            let leaf = walk::translate(&*snapshot.memory, cpu.kernel_root(), pointer, false);
            let leaf = leaf.with_context(|| format!("{name} is not mapped"))?;
            anyhow::Ok(leaf.pa + (pointer - leaf.va))
        };
        Ok(Self {
            taken: bitmap("asid_map")?,
            pinned: bitmap("pinned_asid_map")?,
            generation: of("asid_generation")?,
        })
    }

    /// How often Linux began anew.
    pub fn generation(&self, snapshot: &Snapshot) -> Result<u64> {
        Ok(word(snapshot, self.generation)? >> GENERATION_SHIFT)
    }

    /// Leaves `few` to the processes of a stopped machine, from now on and for good. Processes
    /// keep what they have until the next generation.
    pub fn leave(&self, snapshot: &Snapshot, guest: &Live<'_>, few: usize) -> Result<()> {
        let mut pinned = [0xff; BYTES];
        (FIRST..FIRST + few).for_each(|it| pinned[it / 8] &= !(1 << (it % 8)));
        let mut taken = Vec::with_capacity(BYTES);
        for offset in (0..BYTES).step_by(8) {
            taken.extend(word(snapshot, self.taken + offset as u64)?.to_le_bytes());
        }
        taken
            .iter_mut()
            .zip(pinned)
            .for_each(|(it, more)| *it |= more);
        let mut stub = Stub::connect(guest.gdb)?;
        stub.write_physical(self.pinned, &pinned)?;
        stub.write_physical(self.taken, &taken)
    }
}

fn word(snapshot: &Snapshot, at: u64) -> Result<u64> {
    let word = snapshot.memory.word(at);
    word.with_context(|| format!("{at:#x} is not in RAM"))
}
