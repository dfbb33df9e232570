// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an operation costs: its instructions, or its calls and their instructions.

use std::os::fd::OwnedFd;

use anyhow::{Context, Result, ensure};
use donjon_guests::perf::{self, Attributes, CYCLES, HARDWARE, Instructions, Scope};
use donjon_guests::stats::Totals;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

/// Times that nothing is measured, to know what measuring takes.
const EMPTY: usize = 8;

/// Measures on CPU 0.
pub struct Meter {
    instructions: Instructions,
    /// Counters of the inner domain. Whoever reads them while a counter of the CPU runs has the
    /// inner domain measure each call from then on, so that all become longer.
    inside: Option<Totals>,
    /// The cycle counter, by which the inner domain measures.
    _cycles: Option<OwnedFd>,
    /// What measuring takes itself.
    empty: u64,
}

/// What one operation cost.
#[derive(Clone, Copy, Debug)]
pub enum Sample {
    /// Instructions.
    All(u64),
    /// Calls of the inner domain, and the instructions of these.
    Inside(u64, u64),
}

impl Meter {
    /// Starts the counters; this process stays on CPU 0.
    pub fn start(inside: bool) -> Result<Self> {
        let mut cpus = CpuSet::new();
        cpus.set(0)?;
        sched_setaffinity(Pid::from_raw(0), &cpus).context("staying on CPU 0")?;
        let totals = || {
            let totals = Totals::open().context("opening the inner domain's counters")?;
            totals.context("there is no inner domain")
        };
        let cycles = || {
            let attributes = Attributes {
                kind: HARDWARE,
                config: CYCLES,
                ..Attributes::default()
            };
            perf::open(attributes, Scope::Cpu(0)).context("starting the cycle counter")
        };
        let mut meter = Self {
            instructions: Instructions::of_cpu_0().context("starting the counter")?,
            inside: inside.then(totals).transpose()?,
            _cycles: inside.then(cycles).transpose()?,
            empty: 0,
        };
        let mut empty = u64::MAX;
        for _ in 0..EMPTY {
            match meter.measure(|| Ok(()))? {
                Sample::All(instructions) => empty = empty.min(instructions),
                Sample::Inside(calls, _) => empty = empty.min(calls),
            }
        }
        if inside {
            ensure!(empty == 0, "measuring nothing makes {empty} calls");
        } else {
            ensure!(empty > 0, "the counter does not count");
            meter.empty = empty;
        }
        Ok(meter)
    }

    /// Measures `operation`.
    pub fn measure(&mut self, operation: impl FnOnce() -> Result<()>) -> Result<Sample> {
        if let Some(totals) = &mut self.inside {
            let [calls, instructions] = totals.read()?;
            operation()?;
            let after = totals.read()?;
            return Ok(Sample::Inside(after[0] - calls, after[1] - instructions));
        }
        let start = self.instructions.read()?;
        operation()?;
        let end = self.instructions.read()?;
        Ok(Sample::All((end - start).saturating_sub(self.empty)))
    }
}
