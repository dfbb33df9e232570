// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask flow check`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use donjon_flow_check::{Input, Program, Refusal, read, read_section};

use super::CheckArguments;
use crate::build::{TEXT, Target};

/// Most refusals that are printed.
const MOST: usize = 20;

/// Checks a program, and prints what was proved or refused.
pub fn run(arguments: &CheckArguments) -> Result<u8> {
    print(&arguments.program, arguments.target)
}

/// Checks a program and prints the outcome; the status of the command.
pub fn print(path: &Path, target: Target) -> Result<u8> {
    match Program::check(open(path, target)?) {
        Ok(program) => {
            let it = program.numbers();
            println!(
                "  form proved: {} words of text, {} blocks, {} starts of regions with at most {} \
                 bits, {} numbers of edges, {} counted loops, {} records of x30, {} indirect \
                 branches, {} functions that pointers may hold",
                it.words,
                it.blocks,
                it.regions,
                it.largest,
                it.edges,
                it.loops,
                it.links,
                it.indirect,
                it.targets
            );
            Ok(0)
        }
        Err(refusals) => {
            eprintln!("{}", list(path, &refusals));
            Ok(1)
        }
    }
}

/// Opens a program for a process and proves its form.
///
/// # Errors
///
/// If the file cannot be read, or a rule refuses a place.
pub fn proved(path: &Path) -> Result<Program> {
    match Program::check(open(path, Target::Process)?) {
        Ok(program) => Ok(program),
        Err(refusals) => bail!("{}", list(path, &refusals)),
    }
}

/// Reads what is to be checked: all text of a compartment's program, or the section of a process
/// that is instrumented. The rest of a process starts the program, and is trusted.
fn open(path: &Path, target: Target) -> Result<Input> {
    let bytes = fs::read(path).with_context(|| format!("opening {}", path.display()))?;
    let input = match target {
        Target::Compartment => read(&bytes),
        Target::Process => read_section(&bytes, TEXT),
    };
    input.with_context(|| path.display().to_string())
}

fn list(path: &Path, refusals: &[Refusal]) -> String {
    let count = refusals.len();
    let mut text = format!("{}: {count} places are refused", path.display());
    for it in refusals.iter().take(MOST) {
        text.push_str(&format!("\n  {it}"));
    }
    if count > MOST {
        text.push_str(&format!("\n  and {} more", count - MOST));
    }
    text
}
