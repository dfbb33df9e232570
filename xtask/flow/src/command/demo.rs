// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask flow demo`.

use std::path::PathBuf;

use anyhow::{Context, Result};
use donjon_machine::paths;

use super::DemoArguments;
use super::build::BUILDS;
use crate::build::is_rust;
use crate::cost::{Table, cost};
use crate::execute::{Input, random_state};

/// Programs that are shown without being named.
const PROGRAMS: &str = "guests/flow/programs";

/// Builds programs, runs them, compares their paths and prints what they cost.
pub fn run(arguments: &DemoArguments) -> Result<u8> {
    let sources = sources(arguments)?;
    let input = Input {
        state: random_state()?,
        argument: arguments.argument,
    };
    let folder = paths::in_root(BUILDS).join("demo");
    println!("{}", Table::head());
    let mut rows = Vec::new();
    for source in &sources {
        let row = cost(source, arguments.compiler, &input, &folder)?;
        println!("{row}");
        rows.push(row);
    }
    println!("{}", Table(rows));
    Ok(0)
}

/// Returns the programs that a command line means.
pub fn sources(arguments: &DemoArguments) -> Result<Vec<PathBuf>> {
    match arguments.sources.as_slice() {
        [] => programs(),
        sources => Ok(sources.to_vec()),
    }
}

/// Lists the programs of the repository.
///
/// # Errors
///
/// If their folder cannot be read.
pub fn programs() -> Result<Vec<PathBuf>> {
    let folder = paths::in_root(PROGRAMS);
    let entries = folder
        .read_dir()
        .with_context(|| format!("reading {}", folder.display()))?;
    let mut found: Vec<_> = entries.filter_map(Result::ok).map(|it| it.path()).collect();
    found.retain(|it| is_rust(it) || it.extension().is_some_and(|it| it == "c"));
    found.sort();
    Ok(found)
}
