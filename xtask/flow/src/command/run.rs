// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask flow run`.

use std::fs;

use anyhow::{Context, Result, ensure};

use super::{OUTCOME, RunArguments, TRANSCRIPT};
use crate::execute::{Input, execute, random_state};

/// Runs a program in an emulator and keeps what it left.
pub fn run(arguments: &RunArguments) -> Result<u8> {
    let folder = &arguments.out;
    ensure!(
        !folder.join(TRANSCRIPT).exists(),
        "{} has a run that `donjon-run --flow` kept; name another folder",
        folder.display()
    );
    let input = Input {
        state: random_state()?,
        argument: arguments.argument,
    };
    let outcome = execute(&arguments.program, &input)?;
    outcome.check(input.state)?;
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    let file = folder.join(OUTCOME);
    fs::write(&file, outcome.to_bytes()).with_context(|| format!("writing {}", file.display()))?;
    println!(
        "result {:#x}, {} words of log, the chain fits: {}",
        outcome.result[0],
        outcome.log.len(),
        file.display()
    );
    Ok(0)
}
