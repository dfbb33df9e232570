// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lines that the script of the paper on Sulfur prints about its programs. Times there are
//! seconds of a model; here they are thousands of instructions.

use std::path::Path;

use anyhow::Result;
use donjon_guests::meter::Meter;

use crate::build::{Kind, LOG_PAGES, Program, attested, inside};
use crate::fig5::{more, outside, repetitions};
use crate::hash::Hash;

/// Where the programs run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// In processes of Linux.
    Baseline,
    /// In compartments, the instrumented ones under flow attestation.
    Sulfur,
}

/// Instructions that the repetitions of a program take, about.
const INSTRUCTIONS: u64 = 4_000_000;

/// Runs each program without instrumentation and with it, and prints what one repetition of its
/// work takes, without what it takes to start.
pub fn run(what: What, folder: &Path, names: &[&str]) -> Result<()> {
    let mut meter = Meter::start()?;
    println!("Running Embench....................");
    for name in names {
        let program = Program::new(folder, name);
        let times = repetitions(&mut meter, &program, INSTRUCTIONS)?;
        let mut cost = |kind| {
            let all = more(times, |count| {
                one(what, &mut meter, &program, (kind, count))
            });
            Ok::<_, anyhow::Error>(all? as f64 / times as f64)
        };
        let (plain, flow) = (cost(Kind::Plain)?, cost(Kind::Flow)?);
        let label = match what {
            What::Baseline => "Blast",
            What::Sulfur => "Blast-Sulfur",
        };
        println!("Running {name}:");
        println!("  Baseline time: {:.2}", thousands(plain));
        println!("  {label} time: {:.2}", thousands(flow));
        println!();
    }
    Ok(())
}

/// What one run takes.
fn one(
    what: What,
    meter: &mut Meter,
    program: &Program,
    (kind, count): (Kind, u64),
) -> Result<u64> {
    if what == What::Baseline {
        return outside(meter, program, kind, count);
    }
    let mut instance = program.instance(kind)?;
    let cost = match kind {
        Kind::Plain => meter.measure(|| inside(&mut instance, count))?.1,
        Kind::Flow => {
            let work = || attested(&mut instance, count, LOG_PAGES, Hash::Extension).map(drop);
            meter.measure(work)?.1
        }
    };
    Ok(cost)
}

fn thousands(instructions: f64) -> f64 {
    instructions / 1000.0
}
