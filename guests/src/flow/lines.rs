// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lines that the script of the paper on Sulfur prints about its programs. Times there are
//! seconds of a model; here they are thousands of instructions.

use std::path::Path;

use anyhow::Result;
use donjon_guests::meter::Meter;

use crate::build::{Kind, LOG_PAGES, Program, attested, inside};
use crate::hash::Hash;

/// Where the programs run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// In processes of Linux.
    Baseline,
    /// In compartments, the instrumented ones under flow attestation.
    Sulfur,
}

/// The programs of the paper, under its names and in its order.
const PROGRAMS: [&str; 15] = [
    "basicmath_small",
    "crc_32",
    "libedn",
    "libhuffbench",
    "libminver",
    "libst",
    "libud",
    "matmult-int",
    "mont64",
    "nbody",
    "nettle-aes",
    "nettle-sha256",
    "primecount",
    "sglib-combined",
    "tarfind",
];

/// Runs each program once without instrumentation and once with it, and prints what each run took.
pub fn run(what: What, folder: &Path) -> Result<()> {
    let mut meter = Meter::start()?;
    println!("Running Embench....................");
    for name in PROGRAMS {
        let program = Program::new(folder, name);
        let (plain, flow) = match what {
            What::Baseline => {
                let mut one = |kind| Ok(meter.measure(|| program.outside(kind, 1))?.1);
                let plain: Result<u64> = one(Kind::Plain);
                (plain?, one(Kind::Flow)?)
            }
            What::Sulfur => {
                let mut plain = program.instance(Kind::Plain)?;
                let plain = meter.measure(|| inside(&mut plain, 1))?.1;
                let mut flow = program.instance(Kind::Flow)?;
                let work = || attested(&mut flow, 1, LOG_PAGES, Hash::Extension).map(drop);
                (plain, meter.measure(work)?.1)
            }
        };
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

fn thousands(instructions: u64) -> f64 {
    instructions as f64 / 1000.0
}
