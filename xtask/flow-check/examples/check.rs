// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks the ELF files that are named, and prints what they have or what is refused. With
//! `--section NAME` in front, only that section is the program's text.

use std::process::ExitCode;

use anyhow::{Context, Result};
use donjon_flow_check::{Program, read, read_section};

fn main() -> Result<ExitCode> {
    let mut refused = 0;
    let mut paths: Vec<_> = std::env::args().skip(1).collect();
    let section = (paths.first().is_some_and(|it| it == "--section") && paths.len() > 1)
        .then(|| paths.drain(..2).nth(1))
        .flatten();
    for path in paths {
        let bytes = std::fs::read(&path).with_context(|| format!("{path} cannot be read"))?;
        let input = match &section {
            Some(name) => read_section(&bytes, name),
            None => read(&bytes),
        };
        let input = input.with_context(|| path.clone())?;
        match Program::check(input) {
            Ok(program) => println!("{path}: {:?}", program.numbers()),
            Err(refusals) => {
                refused += 1;
                println!("{path}: {} places are refused", refusals.len());
                for it in refusals.iter().take(20) {
                    println!("  {it}");
                }
            }
        }
    }
    Ok(ExitCode::from(u8::from(refused > 0)))
}
