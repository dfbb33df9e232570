// SPDX-License-Identifier: MIT OR Apache-2.0
//! Timing an operation: repeated until it takes long enough, in a process of its own.

use std::io::{PipeReader, Read, Write};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::kernel;

/// How long a sample takes at least, and how many there are.
pub struct Plan {
    /// Microseconds.
    pub enough: f64,
    /// Samples; the result is their median.
    pub samples: usize,
}

/// Length of a batch, in microseconds, from which on it says how many repetitions are enough.
const TELLING: f64 = 150.0;

impl Plan {
    /// LMBench's defaults, and `ENOUGH` from the environment.
    pub fn from_environment() -> Result<Self> {
        let enough = match std::env::var("ENOUGH") {
            Ok(text) => text.parse().context("the variable ENOUGH")?,
            Err(_) => 5000.0,
        };
        Ok(Self {
            enough,
            samples: 11,
        })
    }

    /// Microseconds of one operation: the median of the samples. A child makes its preparations,
    /// then repeats the operation as often as it is told. It ends without cleaning up, and what
    /// it started ends with it.
    pub fn measure<T>(
        &self,
        prepare: impl FnOnce() -> Result<T>,
        mut repeat: impl FnMut(&mut T, u64) -> Result<()>,
    ) -> Result<f64> {
        let sample = || {
            let mut state = prepare()?;
            let mut timed = |times| {
                let start = Instant::now();
                repeat(&mut state, times)?;
                Ok(start.elapsed().as_secs_f64() * 1e6)
            };
            let mut samples = self.samples(&mut timed)?;
            samples.sort_by(f64::total_cmp);
            let middle = samples.len() / 2;
            Ok(match samples.len() % 2 {
                1 => samples[middle],
                _ => f64::midpoint(samples[middle - 1], samples[middle]),
            })
        };
        in_child(sample)
    }

    fn samples(&self, timed: &mut impl FnMut(u64) -> Result<f64>) -> Result<Vec<f64>> {
        let mut times = 1;
        let mut samples = Vec::new();
        while samples.len() < self.samples {
            let took = timed(times)?;
            if took >= 0.95 * self.enough {
                samples.push(took / times as f64);
            } else if took < TELLING {
                times *= 8;
            } else {
                times = (times as f64 * 1.1 * self.enough / took) as u64 + 1;
            }
        }
        Ok(samples)
    }
}

/// What `body` returns in a child.
fn in_child(body: impl FnOnce() -> Result<f64>) -> Result<f64> {
    let (reader, mut writer) = std::io::pipe()?;
    let child = kernel::fork()?;
    if child == 0 {
        drop(reader);
        let status = match body() {
            Ok(figure) => i32::from(writer.write_all(&figure.to_le_bytes()).is_err()),
            Err(error) => {
                eprintln!("{error:#}");
                1
            }
        };
        kernel::exit(status);
    }
    drop(writer);
    let figure = receive(reader);
    let status = kernel::wait_for(child)?;
    ensure!(
        status == 0,
        "the measuring process ended with status {status:#x}"
    );
    figure
}

fn receive(mut reader: PipeReader) -> Result<f64> {
    let mut bytes = [0; 8];
    reader
        .read_exact(&mut bytes)
        .context("the measuring process says nothing")?;
    Ok(f64::from_le_bytes(bytes))
}

/// Prints a line as LMBench does.
pub fn print(what: &str, microseconds: f64) {
    eprintln!("{what}: {microseconds:.4} microseconds");
}
