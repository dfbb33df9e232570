// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads a linked program and has its form proved.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use donjon_flow_check::{Program, Refusal, read, read_section};

use crate::build::{TEXT, Target};

/// Most refusals that are listed.
const MOST: usize = 20;

/// Reads what is to be checked and proves its form: all text of a compartment's program, or the
/// section of a process that is instrumented. The rest of a process starts the program, and is
/// trusted.
///
/// # Errors
///
/// If the file cannot be read. The inner error lists the places that a rule refuses.
pub fn prove(path: &Path, target: Target) -> Result<Result<Program, String>> {
    let bytes = fs::read(path).with_context(|| format!("opening {}", path.display()))?;
    let input = match target {
        Target::Compartment => read(&bytes),
        Target::Process => read_section(&bytes, TEXT),
    };
    let input = input.with_context(|| path.display().to_string())?;
    Ok(Program::check(input).map_err(|it| list(path, &it)))
}

/// Reads a program for a process and proves its form.
///
/// # Errors
///
/// If the file cannot be read, or a rule refuses a place.
pub fn proved(path: &Path) -> Result<Program> {
    prove(path, Target::Process)?.map_err(anyhow::Error::msg)
}

fn list(path: &Path, refusals: &[Refusal]) -> String {
    let count = refusals.len();
    let mut text = format!("{}: {count} places are refused", path.display());
    for it in refusals.iter().take(MOST) {
        // Writing to a string does not fail.
        let _ = write!(text, "\n  {it}");
    }
    if count > MOST {
        let _ = write!(text, "\n  and {} more", count - MOST);
    }
    text
}
