// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tracks which CPUs run the outer domain, and which wait inside for a change of text.
//!
//! A change that is not on the manual's short list ([`crate::code::live_text`]) is made only while
//! no other CPU can execute an instruction of the outer domain. A CPU cannot while it is switched
//! off, or while it waits inside. This state is the inner domain's own knowledge: what the outer
//! domain says about its CPUs counts for nothing.
//!
//! The lock of the protected state guards this state, and makes the argument:
//!
//! * The writer holds the lock from the question ([`Rendezvous::others_wait`]) until the change
//!   is complete, cache maintenance and barrier included.
//! * A CPU that waits spins without the lock, but it stops waiting under it
//!   ([`Rendezvous::leaves`]), so it is inside until the change is complete. On its way out the
//!   gate has an ISB, behind which it fetches the new words.
//! * A CPU that is switched off stops counting ([`Rendezvous::goes`]) before the firmware is
//!   called, when it has executed its last instruction of the outer domain. One that arrives, or
//!   that the firmware did not stop, counts again ([`Rendezvous::arrives`]) before it executes
//!   the first.

use donjon_abi::layout::MAX_CPUS;

#[cfg(test)]
mod tests;

const _: () = assert!(MAX_CPUS <= u32::BITS as usize);

/// The CPUs, by their index ([`donjon_abi::layout::cpu_index`]).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rendezvous {
    running: u32,
    waiting: u32,
    unchecked: u32,
}

impl Rendezvous {
    /// Begins with one CPU that runs, the one with this index.
    pub const fn new(cpu: usize) -> Self {
        Self {
            running: bit(cpu),
            waiting: 0,
            unchecked: 0,
        }
    }

    /// Notes that a CPU is about to execute instructions of the outer domain.
    pub const fn arrives(&mut self, cpu: usize) {
        self.running |= bit(cpu);
    }

    /// Notes that a CPU executes no more instructions of the outer domain until it
    /// [arrives](Self::arrives).
    pub const fn goes(&mut self, cpu: usize) {
        self.running &= !bit(cpu);
        self.unchecked &= !bit(cpu);
    }

    /// The hand-over: every CPU that runs now set its registers itself, or before they were
    /// recorded. One that arrives later gets the recorded ones.
    pub const fn check_all(&mut self) {
        self.unchecked = self.running;
    }

    /// The registers of this CPU are those of the hand-over.
    pub const fn checked(&mut self, cpu: usize) {
        self.unchecked &= !bit(cpu);
    }

    /// The CPUs, a bit each, that have run since before the hand-over and were not
    /// [checked](Self::checked) yet.
    pub const fn unchecked(&self) -> u32 {
        self.unchecked
    }

    /// Notes that a CPU stays inside until it [leaves](Self::leaves).
    pub const fn waits(&mut self, cpu: usize) {
        self.waiting |= bit(cpu);
    }

    /// Notes that a CPU goes back to the outer domain.
    pub const fn leaves(&mut self, cpu: usize) {
        self.waiting &= !bit(cpu);
    }

    /// Whether every CPU that runs, except for the caller's (`cpu`), waits inside.
    pub const fn others_wait(&self, cpu: usize) -> bool {
        self.running & !self.waiting & !bit(cpu) == 0
    }
}

const fn bit(cpu: usize) -> u32 {
    1 << (cpu % MAX_CPUS)
}
