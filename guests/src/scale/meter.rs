// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an operation costs: instructions, calls, and instructions inside.

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
    /// Of the inner domain, if there is one.
    inside: Option<Totals>,
    /// While it runs, the inner domain counts its instructions.
    _cycles: OwnedFd,
    /// What measuring takes itself.
    empty: u64,
}

/// What one operation cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    /// Instructions of the CPU, those inside among them.
    pub instructions: u64,
    /// Calls of the inner domain; none where there is none.
    pub calls: u64,
    /// Instructions of these calls.
    pub inside: u64,
}

impl Meter {
    /// Starts the counters; this process stays on CPU 0.
    pub fn start() -> Result<Self> {
        let mut cpus = CpuSet::new();
        cpus.set(0)?;
        sched_setaffinity(Pid::from_raw(0), &cpus).context("staying on CPU 0")?;
        let cycles = Attributes {
            kind: HARDWARE,
            config: CYCLES,
            ..Attributes::default()
        };
        let mut meter = Self {
            _cycles: perf::open(cycles, Scope::Cpu(0)).context("starting the cycle counter")?,
            instructions: Instructions::of_cpu_0().context("starting the counter")?,
            inside: Totals::open().context("opening the inner domain's counters")?,
            empty: 0,
        };
        let mut empty = Vec::new();
        for _ in 0..EMPTY {
            let sample = meter.measure(|| Ok(()))?;
            ensure!(sample.instructions > 0, "the counter does not count");
            empty.push(sample);
        }
        let last = empty.last().map_or(0, |it| it.calls);
        ensure!(last == 0, "measuring nothing makes {last} calls");
        meter.empty = empty.iter().map(|it| it.instructions).min().unwrap_or(0);
        Ok(meter)
    }

    /// Measures `operation`.
    pub fn measure(&mut self, operation: impl FnOnce() -> Result<()>) -> Result<Sample> {
        let [calls, inside] = self.totals()?;
        let start = self.instructions.read()?;
        operation()?;
        let end = self.instructions.read()?;
        let [calls_after, inside_after] = self.totals()?;
        Ok(Sample {
            instructions: (end - start).saturating_sub(self.empty),
            calls: calls_after - calls,
            inside: inside_after - inside,
        })
    }

    fn totals(&mut self) -> Result<[u64; 2]> {
        Ok(self.inside.as_mut().map_or(Ok([0; 2]), Totals::read)?)
    }
}
