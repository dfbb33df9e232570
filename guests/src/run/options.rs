// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use donjon_abi::flow::LOG_PAGES_MAX;
use donjon_token::from_hexadecimal;

const USAGE: &str =
    "donjon-run [--measure] [--calls COUNT] [--flow DIR NONCE [--log PAGES]] IMAGE [ARGUMENT...]
  --measure      print the measurement of the compartment, and do not run it
  --calls COUNT  call it so many times, unless a status is not 0
  --flow DIR NONCE  run it once under flow attestation, and keep in DIR what a verifier needs:
                 transcript, log and token; NONCE is the verifier's, 64 hexadecimal digits.
                 SIGINT or SIGTERM ends the run, which is attested up to there
  --log PAGES    pages of memory for the log, 1 to 2048; 256 if it is not said";

/// What to do.
pub struct Options {
    /// Only print the measurement.
    pub measure: bool,
    /// How many calls to make.
    pub calls: u64,
    /// What to attest, if anything.
    pub flow: Option<Flow>,
    /// The file.
    pub image: PathBuf,
    /// What the program gets.
    pub arguments: Vec<OsString>,
}

/// A run under flow attestation.
pub struct Flow {
    /// The folder for what a verifier needs.
    pub folder: PathBuf,
    /// What the verifier sent.
    pub nonce: [u8; 32],
    /// Pages of the log.
    pub pages: usize,
}

/// Pages of a log if nothing is said.
const LOG_PAGES: usize = 256;

impl Options {
    /// Reads the words behind the program's name.
    pub fn of(mut words: impl Iterator<Item = OsString>) -> Result<Self> {
        let (mut measure, mut calls) = (false, 1);
        let (mut flow, mut pages) = (None, None);
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
                Some("--flow") => {
                    let folder = PathBuf::from(words.next().context(USAGE)?);
                    let nonce = words.next().context(USAGE)?;
                    let nonce = nonce
                        .to_str()
                        .and_then(|it| from_hexadecimal(it.as_bytes()));
                    let nonce = nonce.context("a nonce is 64 hexadecimal digits")?;
                    flow = Some((folder, nonce));
                }
                Some("--log") => {
                    let count = words.next().context(USAGE)?;
                    let count = count.to_str().and_then(|it| it.parse().ok());
                    let count = count.filter(|it| (1..=LOG_PAGES_MAX as usize).contains(it));
                    let needed = "--log needs a number of pages from 1 to 2048";
                    pages = Some(count.context(needed)?);
                }
                Some("--help" | "-h") => {
                    println!("{USAGE}");
                    std::process::exit(0);
                }
                Some(word) if word.starts_with('-') => bail!("there is no {word}\n{USAGE}"),
                _ => {
                    ensure!(flow.is_some() || pages.is_none(), "--log is for --flow");
                    ensure!(flow.is_none() || calls == 1, "--flow is one call");
                    let flow = flow.map(|(folder, nonce)| Flow {
                        folder,
                        nonce,
                        pages: pages.unwrap_or(LOG_PAGES),
                    });
                    return Ok(Self {
                        measure,
                        calls,
                        flow,
                        image: word.into(),
                        arguments: words.collect(),
                    });
                }
            }
        }
    }
}
