// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks a signed report, and says in words what it proves and what not: of a compartment, or of
//! the path that it took. Results and reference values are also written for other services.

mod arguments;
mod cause;
mod ear;
pub mod endorse;
mod evidence;
mod flow;
mod output;
mod signer;
#[cfg(test)]
mod tests;
mod verdict;

use std::fs;

use anyhow::{Context, Result, ensure};
use donjon_token::Token;
use ear::{Appraisal, Sink};
use sha2::{Digest, Sha256};

pub use arguments::VerifyArguments;
pub use cause::Cause;
pub use evidence::{Evidence, Outcome};
pub use flow::{Check, Question, Report, judge, judge_without};
pub use verdict::{Expected, Verdict};

/// Most bytes of a token.
const MOST: u64 = 4096;

/// Prints what a token or the folder of a run says and proves; the status of the command.
///
/// Of a token it is 1 if something is wrong with it. Of a run it is 0 if it is proven from its
/// entry to its end, 1 if something is wrong, 3 if all is right and the program did not end by
/// itself, and 2 if it cannot be read or is too long.
///
/// # Errors
///
/// If the file cannot be read, or has no token; if something is expected of a token whose key is
/// not known, or that only a run has; if an attestation result cannot be written.
pub fn run(arguments: &VerifyArguments) -> Result<u8> {
    if arguments.program.is_some() || arguments.path.is_dir() {
        return Ok(flow::run(arguments));
    }
    ensure!(
        arguments.policy.is_none() && arguments.golden.is_none() && !arguments.prefix,
        "--policy, --golden and --prefix are about the folder of a run: name it, and --program"
    );
    alone(arguments)
}

/// Prints what a token says and proves; 1 if something is wrong with it.
fn alone(arguments: &VerifyArguments) -> Result<u8> {
    let sink = Sink::open(arguments, false)?;
    let file = &arguments.path;
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
    if let Some(sink) = sink {
        let evidence = Evidence {
            token: Sha256::digest(&bytes).into(),
            ..Evidence::default()
        };
        let is_start_compared = arguments.started.is_some();
        sink.write(&Appraisal::of_token(&verdict, evidence, is_start_compared))?;
    }
    Ok(u8::from(!verdict.wrong.is_empty()))
}
