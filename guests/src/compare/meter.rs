// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions of CPU 0 in all programs and the kernel, without those of reading the counter.

use anyhow::Result;
use donjon_guests::perf::Instructions;

/// Times that nothing is measured, to know what measuring takes.
const EMPTY: usize = 100;

/// The counter.
pub struct Meter {
    counter: Instructions,
    empty: u64,
}

impl Meter {
    /// Starts it.
    pub fn start() -> Result<Self> {
        let mut counter = Instructions::of_cpu_0()?;
        let mut empty = u64::MAX;
        for _ in 0..EMPTY {
            let before = counter.read()?;
            empty = empty.min(counter.read()? - before);
        }
        Ok(Self { counter, empty })
    }

    /// What the counter has.
    pub fn now(&mut self) -> Result<u64> {
        Ok(self.counter.read()?)
    }

    /// What the work gives, and its instructions.
    pub fn measure<T>(&mut self, work: impl FnOnce() -> Result<T>) -> Result<(T, u64)> {
        let before = self.counter.read()?;
        let done = work()?;
        let after = self.counter.read()?;
        Ok((done, (after - before).saturating_sub(self.empty)))
    }
}
