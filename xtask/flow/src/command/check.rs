// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask flow check`.

use std::path::Path;

use anyhow::Result;

use super::CheckArguments;
use crate::build::Target;
use crate::proof::prove;

/// Checks a program, and prints what was proved or refused.
pub fn run(arguments: &CheckArguments) -> Result<u8> {
    print(&arguments.program, arguments.target)
}

/// Checks a program and prints the outcome; the status of the command.
pub fn print(path: &Path, target: Target) -> Result<u8> {
    match prove(path, target)? {
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
            eprintln!("{refusals}");
            Ok(1)
        }
    }
}
