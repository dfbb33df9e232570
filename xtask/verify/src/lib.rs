// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks a signed report, and says in words what it proves and what not.

mod verdict;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use donjon_token::{Token, from_hexadecimal};

pub use verdict::{Expected, Verdict};

/// Most bytes of a token.
const MOST: u64 = 4096;

/// What to check, and against what.
#[derive(Args, Debug)]
pub struct VerifyArguments {
    /// The token, as the quoting compartment wrote it.
    #[arg(value_name = "FILE")]
    token: PathBuf,
    /// The nonce that was sent.
    #[arg(long, value_name = "HEX", value_parser = digits)]
    nonce: Option<[u8; 32]>,
    /// The public key of the machine's quoting compartment, from
    /// `donjon-run /usr/lib/donjon/quote key` in a boot that was trusted.
    #[arg(long, value_name = "HEX", value_parser = digits)]
    key: Option<[u8; 32]>,
    /// The measurement that the compartment must have, from `cargo xtask compartment measure`.
    #[arg(long, value_name = "HEX", value_parser = digits)]
    measurement: Option<[u8; 32]>,
    /// The digest of what must have been started, from a boot that was trusted.
    #[arg(long, value_name = "HEX", value_parser = digits)]
    started: Option<[u8; 32]>,
}

/// Prints what a token says and proves; 1 if something is wrong with it.
///
/// # Errors
///
/// If the file cannot be read, or has no token; if something is expected of a token whose key is
/// not known.
pub fn run(arguments: &VerifyArguments) -> Result<u8> {
    let file = &arguments.token;
    let about = fs::metadata(file).with_context(|| format!("opening {}", file.display()))?;
    ensure!(
        about.len() <= MOST,
        "{} has more than {MOST} bytes: it is no token",
        file.display()
    );
    let bytes = fs::read(file).with_context(|| format!("reading {}", file.display()))?;
    let token = Token::parse(&bytes)
        .with_context(|| format!("{} is no token of a quoting compartment", file.display()))?;
    let verdict = Verdict::of(
        &token,
        &Expected {
            nonce: arguments.nonce,
            key: arguments.key,
            measurement: arguments.measurement,
            started: arguments.started,
        },
    );
    print!("{verdict}");
    ensure!(
        verdict.agrees.is_empty(),
        "without --key nothing in a token is proven: name the key of a boot that was trusted, which \
         `donjon-run /usr/lib/donjon/quote key` prints there"
    );
    Ok(u8::from(!verdict.wrong.is_empty()))
}

fn digits(text: &str) -> Result<[u8; 32], String> {
    from_hexadecimal(text.as_bytes()).ok_or_else(|| "64 hexadecimal digits are needed".to_owned())
}
