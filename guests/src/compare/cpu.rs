// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loops that compute.

use anyhow::{Result, ensure};
use donjon_loops::{Task, array, float, integer, math};

use crate::inside::{call, make};
use donjon_guests::meter::Meter;

/// A name, what it is inside, what it is outside, and rounds for a size of 1.
type Loop = (&'static str, Task, fn(u64) -> u64, u64);

/// Loops, with rounds that take about equally long.
const LOOPS: [Loop; 4] = [
    ("math", Task::Math, math, 4_000),
    ("integer", Task::Integer, integer, 50_000),
    ("float", Task::Float, float, 100_000),
    ("array", Task::Array, array, 100),
];

/// Runs each loop `trials` times, inside and outside.
pub fn run(size: u64, trials: u64) -> Result<()> {
    let mut meter = Meter::start()?;
    let instance = make()?;
    for trial in 1..=trials {
        for (name, task, function, rounds) in LOOPS {
            let rounds = rounds * size;
            let (outside, normal) = meter.measure(|| Ok(function(rounds)))?;
            let work = || call(instance.compartment(), task, rounds, 0);
            let (inside, secure) = meter.measure(work)?;
            ensure!(
                inside == outside,
                "{name}: {inside:x} inside, {outside:x} outside"
            );
            println!("{name}: {trial} {normal} {secure}");
        }
    }
    Ok(())
}
