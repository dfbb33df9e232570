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
mod tests;
mod transcript;
mod walk;

use crate::VerifyArguments;

pub use check::Check;
pub use judge::{judge, judge_without};
pub use question::Question;
pub use report::Report;

/// The status for what cannot be read, or is too long.
const UNREADABLE: u8 = 2;

/// Prints what a run proves; the status of the command.
pub fn run(arguments: &VerifyArguments) -> u8 {
    match Question::of(arguments).and_then(|it| judge(&it)) {
        Ok(report) => {
            print!("{report}");
            report.status()
        }
        Err(trouble) => {
            eprintln!("error: {trouble:#}");
            UNREADABLE
        }
    }
}
