// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts instructions of programs in all builds.

use std::path::Path;

use anyhow::Result;
use donjon_guests::meter::Meter;

use crate::build::{Kind, LOG_PAGES, Program, attested, inside};
use crate::hash::Hash;

/// Most repetitions of a program's work.
const MOST: u64 = 1 << 20;

/// Counts each program `trials` times. A count is what a run with more repetitions takes more than
/// a run with one, about `instructions`: so without what it takes to start. Prints for each trial
///
/// `NAME: TRIAL REPETITIONS PLAIN-OUTSIDE PLAIN-INSIDE FLOW-OUTSIDE FLOW-INSIDE SHA SOFTWARE WORDS`
///
/// where the last but two are inside as well, with the log kept and hashed, and WORDS are those of
/// the log.
pub fn run(instructions: u64, trials: u64, folder: &Path, names: &[&str]) -> Result<()> {
    let mut meter = Meter::start()?;
    for name in names {
        let program = Program::new(folder, name);
        let more_of = repetitions(&mut meter, &program, instructions)?;
        for trial in 1..=trials {
            let mut counts = Vec::new();
            for kind in [Kind::Plain, Kind::Flow] {
                counts.push(more(more_of, |count| {
                    outside(&mut meter, &program, kind, count)
                })?);
                if kind == Kind::Plain {
                    counts.push(more(more_of, |count| {
                        let mut instance = program.instance(kind)?;
                        Ok(meter.measure(|| inside(&mut instance, count))?.1)
                    })?);
                }
            }
            let mut words = 0;
            for hash in [Hash::None, Hash::Extension, Hash::Software] {
                let mut of_log = [0; 2];
                counts.push(more(more_of, |count| {
                    let mut instance = program.instance(Kind::Flow)?;
                    let work = || attested(&mut instance, count, LOG_PAGES, hash);
                    let (kept, cost) = meter.measure(work)?;
                    of_log[usize::from(count > 1)] = kept.words;
                    Ok(cost)
                })?);
                words = of_log[1] - of_log[0];
            }
            let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
            println!("{name}: {trial} {more_of} {} {words}", counts.join(" "));
        }
    }
    Ok(())
}

/// How many repetitions take so many instructions, about.
pub fn repetitions(meter: &mut Meter, program: &Program, instructions: u64) -> Result<u64> {
    let once = more(1, |count| outside(meter, program, Kind::Plain, count))?;
    Ok((instructions / once.max(1)).clamp(1, MOST))
}

/// What `more` repetitions besides one take.
pub fn more(more: u64, mut cost: impl FnMut(u64) -> Result<u64>) -> Result<u64> {
    let one = cost(1)?;
    Ok(cost(1 + more)?.saturating_sub(one))
}

/// What a run in a process takes.
pub fn outside(meter: &mut Meter, program: &Program, kind: Kind, count: u64) -> Result<u64> {
    Ok(meter.measure(|| program.outside(kind, count))?.1)
}
