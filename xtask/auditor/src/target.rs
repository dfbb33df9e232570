// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interface to a machine, for registers and memory.

use std::ops::Range;
use std::path::Path;

use anyhow::Result;

use super::memory::Memory;

/// A machine that can be stopped and looked at.
pub trait Target {
    /// Stops all CPUs.
    ///
    /// # Errors
    ///
    /// If the machine is gone or refuses.
    fn stop(&self) -> Result<()>;

    /// Lets all CPUs go on.
    ///
    /// # Errors
    ///
    /// Those of [`stop`](Self::stop).
    fn resume(&self) -> Result<()>;

    /// The physical address at which the machine put the boot image `image`.
    ///
    /// # Errors
    ///
    /// If it does not know the file.
    fn loaded_at(&self, image: &Path) -> Result<u64>;

    /// A copy of the RAM in `banks`, ranges of physical addresses. The machine is stopped.
    ///
    /// # Errors
    ///
    /// If a bank cannot be read.
    fn memory(&self, banks: &[Range<u64>]) -> Result<Box<dyn Memory>>;

    /// A register of 32 bits of a device, at a physical address. Reading it has no effect.
    ///
    /// # Errors
    ///
    /// If the machine does not say.
    fn device(&self, address: u64) -> Result<u32>;

    /// Access to the registers. The machine is stopped, and stays so until
    /// [`resume`](Self::resume).
    ///
    /// # Errors
    ///
    /// If there is no access.
    fn registers(&self) -> Result<Box<dyn Registers>>;
}

/// The registers of a stopped machine's CPUs.
pub trait Registers {
    /// Identifiers of the CPUs, in order.
    ///
    /// # Errors
    ///
    /// If the machine does not answer, as for all that follow.
    fn cpus(&mut self) -> Result<Vec<String>>;

    /// Selects the CPU that registers are read from.
    ///
    /// # Errors
    ///
    /// If there is no such CPU.
    fn select(&mut self, cpu: &str) -> Result<()>;

    /// Whether a CPU stands still until an interrupt or the firmware wakes it.
    ///
    /// # Errors
    ///
    /// If there is no such CPU.
    fn is_halted(&mut self, cpu: &str) -> Result<bool>;

    /// A system register of the selected CPU by the first of `names` that there is.
    ///
    /// # Errors
    ///
    /// If it cannot be read. A register that the CPU does not have is none.
    fn system(&mut self, names: &[&str]) -> Result<Option<u64>>;

    /// The program counter of the selected CPU.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    fn pc(&mut self) -> Result<u64>;

    /// PSTATE of the selected CPU, as SPSR would have it.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    fn pstate(&mut self) -> Result<u64>;
}
