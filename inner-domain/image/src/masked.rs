// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long a CPU that runs a compartment takes no interrupt.

use donjon_abi::call::Function;
use donjon_hal::cpu;

use crate::per_cpu::PerCpu;
use crate::user_tables;

/// A stretch in which the CPU takes no interrupt: from the call, or from an exception from EL0, on,
/// and until EL0 or Linux goes on. What `context.S` does is not in it.
pub struct Masked {
    block: &'static PerCpu,
    /// What the cycle counter was; none while nothing is measured.
    since: Option<u64>,
}

impl Masked {
    /// Begins a stretch.
    pub fn begin(block: &'static PerCpu) -> Self {
        let is_measured = user_tables::fast().is_none();
        let since = if is_measured { cpu::cycles() } else { None };
        Self { block, since }
    }

    /// Ends the stretch and notes its length.
    pub fn end(&mut self) {
        if let Some(before) = self.since.take()
            && let Some(after) = cpu::cycles()
        {
            let function = Function::CompartmentRun as usize;
            self.block
                .note_duration(function, after.wrapping_sub(before));
        }
    }

    /// Runs what is not masked, between the end of this stretch and the beginning of the next one.
    pub fn except<T>(&mut self, unmasked: impl FnOnce() -> T) -> T {
        let is_measured = self.since.is_some();
        self.end();
        let result = unmasked();
        if is_measured {
            self.since = cpu::cycles();
        }
        result
    }
}
