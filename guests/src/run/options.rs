// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

const USAGE: &str = "donjon-run [--measure] [--calls COUNT] IMAGE [ARGUMENT...]
  --measure      print the measurement of the compartment, and do not run it
  --calls COUNT  call it so many times, unless a status is not 0";

/// What to do.
pub struct Options {
    /// Only print the measurement.
    pub measure: bool,
    /// How many calls to make.
    pub calls: u64,
    /// The file.
    pub image: PathBuf,
    /// What the program gets.
    pub arguments: Vec<OsString>,
}

impl Options {
    /// Reads the words behind the program's name.
    pub fn of(mut words: impl Iterator<Item = OsString>) -> Result<Self> {
        let (mut measure, mut calls) = (false, 1);
        loop {
            let word = words.next().context(USAGE)?;
            match word.to_str() {
                Some("--measure") => measure = true,
                Some("--calls") => {
                    let count = words.next().context(USAGE)?;
                    let count = count.to_str().and_then(|it| it.parse().ok());
                    let count = count.filter(|it| *it > 0);
                    calls = count.context("--calls needs a number of at least 1")?;
                }
                Some("--help" | "-h") => {
                    println!("{USAGE}");
                    std::process::exit(0);
                }
                Some(word) if word.starts_with('-') => bail!("there is no {word}\n{USAGE}"),
                _ => {
                    return Ok(Self {
                        measure,
                        calls,
                        image: word.into(),
                        arguments: words.collect(),
                    });
                }
            }
        }
    }
}
