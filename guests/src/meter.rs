// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions of CPU 0 in all programs and the kernel, without those of reading the counter.

use crate::perf::Instructions;
use anyhow::{Context, Result};

/// Times that nothing is measured, to know what measuring takes.
const EMPTY: usize = 100;

/// The counter.
pub struct Meter {
    counter: Instructions,
    empty: u64,
}

impl Meter {
    /// Starts the meter.
    ///
    /// # Errors
    ///
    /// If there is no such counter.
    pub fn start() -> Result<Self> {
        let mut counter = Instructions::of_cpu_0()
            .context("this machine does not count instructions: start it with --icount --cpus 1")?;
        let mut empty = u64::MAX;
        for _ in 0..EMPTY {
            let before = counter.read()?;
            empty = empty.min(counter.read()? - before);
        }
        Ok(Self { counter, empty })
    }

    /// What the counter has.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn now(&mut self) -> Result<u64> {
        Ok(self.counter.read()?)
    }

    /// What the work gives, and its instructions.
    ///
    /// # Errors
    ///
    /// Those of the work; if the counter cannot be read.
    pub fn measure<T>(&mut self, work: impl FnOnce() -> Result<T>) -> Result<(T, u64)> {
        let before = self.counter.read()?;
        let done = work()?;
        let after = self.counter.read()?;
        Ok((done, (after - before).saturating_sub(self.empty)))
    }

    /// The least that the work takes, of `times` times.
    ///
    /// # Errors
    ///
    /// Those of [`measure`](Self::measure).
    pub fn least(&mut self, times: usize, mut work: impl FnMut() -> Result<()>) -> Result<u64> {
        let mut least = u64::MAX;
        for _ in 0..times {
            least = least.min(self.measure(&mut work)?.1);
        }
        Ok(least)
    }
}
