// SPDX-License-Identifier: MIT OR Apache-2.0
//! A call into a compartment and back, from user space.

use anyhow::{Result, ensure};
use donjon_guests::meter::Meter;
use donjon_loops::Task;

use crate::inside::{call, make};

/// A request that the device does not know.
const UNKNOWN: u64 = 0xd0ff;
/// Calls that nothing is said about: the first one fills what is empty.
const WARM_UP: u64 = 4;

/// Makes `trials` calls, and `trials` requests that go no further than the device: one line each.
pub fn run(trials: u64) -> Result<()> {
    let mut meter = Meter::start()?;
    let instance = make()?;
    let it = instance.compartment();
    let called = samples(trials, || {
        let (sum, cost) = meter.measure(|| call(it, Task::Add, 1, 2))?;
        ensure!(sum == 3, "the compartment says {sum}");
        Ok(cost)
    })?;
    let unknown = samples(trials, || {
        let work = || {
            it.raw(UNKNOWN);
            Ok(())
        };
        Ok(meter.measure(work)?.1)
    })?;
    println!("user_call: {called}");
    println!("unknown_request: {unknown}");
    Ok(())
}

/// What it takes each time, with spaces between.
fn samples(trials: u64, mut work: impl FnMut() -> Result<u64>) -> Result<String> {
    let mut words = Vec::new();
    for number in 0..trials + WARM_UP {
        let cost = work()?;
        if number >= WARM_UP {
            words.push(cost.to_string());
        }
    }
    Ok(words.join(" "))
}
