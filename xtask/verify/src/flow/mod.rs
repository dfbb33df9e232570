// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run under flow attestation: which path a program took, from what its host kept.
//!
//! The files are the host's, so nothing of them counts before the report has bound it: first the
//! token, then the transcript by its digest, then the words by digests and tags, and then the path.

mod about;
mod check;
mod ending;
mod folder;
mod golden;
mod judge;
mod log;
mod policy;
mod question;
mod report;
#[cfg(test)]
pub mod tests;
mod transcript;
mod walk;

use anyhow::{Context, Result};

use crate::VerifyArguments;
use crate::ear::{Appraisal, Sink};

pub use check::Check;
pub use folder::read;
pub use judge::{PROGRAM_MAX, judge, judge_without};
pub use policy::{Names, Policy, Watch};
pub use question::Question;
pub use report::Report;

/// The status for what cannot be read, or is too long.
const UNREADABLE: u8 = 2;

/// Prints what a run proves, and writes it if that is asked for; the status of the command.
pub fn run(arguments: &VerifyArguments) -> u8 {
    judged(arguments).unwrap_or_else(|trouble| {
        eprintln!("error: {trouble:#}");
        UNREADABLE
    })
}

fn judged(arguments: &VerifyArguments) -> Result<u8> {
    let question = Question::of(arguments)?;
    let sink = Sink::open(arguments, true)?;
    let report = judge(&question)?;
    print!("{report}");
    if let Some(sink) = sink {
        let appraisal = Appraisal::of_run(&report, arguments.started.is_some());
        sink.write(&appraisal.context("the run has no token")?)?;
    }
    Ok(report.status())
}
