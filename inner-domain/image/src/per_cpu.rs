// SPDX-License-Identifier: MIT OR Apache-2.0
//! Per-CPU data: counters and saved registers, in the page above each CPU's stack.

use core::sync::atomic::{AtomicU64, Ordering};

use donjon_abi::call::{CORE_FUNCTIONS, Counter};
use donjon_abi::layout::{CPU_BLOCKS, MAX_CPUS, PAGE_SIZE, STACK_STRIDE, cpu_index};
use donjon_hal::cpu;

/// One counter for each function, and one for calls to unknown ones.
const ROW: usize = CORE_FUNCTIONS + 1;

/// Names of the registers that the gate saves before an unusual call, in its order. x0, x7, x9,
/// x11 and x18 are lost by then.
pub const SAVED_NAMES: [&str; 26] = [
    "x1", "x2", "x3", "x4", "x5", "x6", "x8", "sp", "x12", "x13", "x14", "x15", "x16", "x17",
    "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30",
];

/// Offset of the saved registers in the block; the gate uses it.
pub const SAVED_REGISTERS: usize = core::mem::offset_of!(PerCpu, saved);

/// Counters of one CPU. Written by that CPU alone, read by any.
///
/// The gate finds `calls` at offset 0.
#[repr(C)]
pub struct PerCpu {
    calls: [AtomicU64; ROW],
    refusals: [AtomicU64; ROW],
    instructions: [AtomicU64; ROW],
    saved: [AtomicU64; SAVED_NAMES.len()],
    entries: [AtomicU64; ROW],
    worst: [AtomicU64; ROW],
}

const _: () = assert!(size_of::<PerCpu>() <= PAGE_SIZE as usize);

impl PerCpu {
    /// The block of the CPU with this index.
    ///
    /// # Safety
    ///
    /// The boot stage has mapped a stack for this index (`CpuSet::mask`).
    pub unsafe fn of(index: usize) -> &'static Self {
        let address = CPU_BLOCKS + (index % MAX_CPUS) as u64 * STACK_STRIDE;
        // SAFETY: the boot stage mapped a zeroed page there, for good; all fields are atomic,
        // and the gate's increments come from the owning CPU alone.
        unsafe { &*(address as *const Self) }
    }

    /// The block of this CPU.
    pub fn current() -> &'static Self {
        // SAFETY: this code runs on the stack below that block.
        unsafe { Self::of(cpu_index(cpu::mpidr())) }
    }

    /// Where the call that runs on this CPU came from: x30 of the caller, which the gate keeps
    /// at the top of the stack (`gate.S`).
    pub fn caller(&self) -> u64 {
        let frame = (&raw const *self).cast::<u64>().wrapping_sub(3);
        // SAFETY: the gate has stored it there, on this CPU's own stack, before it called us.
        unsafe { frame.read_volatile() }
    }

    fn row(&self, counter: Counter) -> &[AtomicU64; ROW] {
        match counter {
            Counter::Calls => &self.calls,
            Counter::Refusals => &self.refusals,
            Counter::Instructions => &self.instructions,
            Counter::Entries => &self.entries,
            Counter::Worst => &self.worst,
        }
    }

    /// The registers that the gate saved, with their names.
    pub fn saved(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let values = self.saved.iter().map(|cell| cell.load(Ordering::Relaxed));
        SAVED_NAMES.into_iter().zip(values)
    }

    /// A counter, or none for a function beyond the last.
    pub fn read(&self, counter: Counter, function: u64) -> Option<u64> {
        let cell = self.row(counter).get(usize::try_from(function).ok()?)?;
        Some(cell.load(Ordering::Relaxed))
    }

    /// Counts the instructions of one call.
    pub fn note_duration(&self, function: usize, instructions: u64) {
        self.add(Counter::Instructions, function, instructions);
        if let Some(worst) = self.worst.get(function)
            && worst.load(Ordering::Relaxed) < instructions
        {
            worst.store(instructions, Ordering::Relaxed);
        }
    }

    /// Adds to a counter. Only the owning CPU does, so a load and a store suffice.
    pub fn add(&self, counter: Counter, function: usize, amount: u64) {
        if let Some(cell) = self.row(counter).get(function) {
            cell.store(
                cell.load(Ordering::Relaxed).wrapping_add(amount),
                Ordering::Relaxed,
            );
        }
    }
}
