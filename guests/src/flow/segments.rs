// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a segment of the log takes: its border, its commit and what its host does.

use std::path::Path;

use anyhow::{Result, ensure};
use donjon_guests::meter::Meter;

use crate::build::{Kind, LOG_PAGES, Program, attested};
use crate::hash::Hash;

/// Repetitions of the program's work.
const REPETITIONS: u64 = 20;

/// Runs a program with logs of one page and of many, neither kept nor hashed. Prints `segments:
/// COST-WITH-SHORT SEGMENTS-WITH-SHORT COST-WITH-LONG SEGMENTS-WITH-LONG`.
pub fn run(folder: &Path, name: &str) -> Result<()> {
    let program = Program::new(folder, name);
    let mut meter = Meter::start()?;
    let mut cost = |pages| {
        let mut instance = program.instance(Kind::Flow)?;
        let work = || attested(&mut instance, REPETITIONS, pages, Hash::None);
        let (kept, cost) = meter.measure(work)?;
        Ok::<_, anyhow::Error>((cost, kept.segments))
    };
    let (short, long) = (cost(1)?, cost(LOG_PAGES)?);
    ensure!(short.1 > long.1, "{name} has too few words of log");
    println!("segments: {} {} {} {}", short.0, short.1, long.0, long.1);
    Ok(())
}
