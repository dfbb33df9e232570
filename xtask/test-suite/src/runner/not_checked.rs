// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a test could not look at: neither a success nor a failure.

use std::fmt::{self, Display, Formatter};

use anyhow::{Error, anyhow};

/// An error that says what a test could not look at, and why.
#[derive(Debug)]
struct NotChecked(String);

impl Display for NotChecked {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotChecked {}

/// The error of a test that could not look at something. `what` names that, a colon and the reason.
pub fn not_checked(what: impl Display) -> Error {
    NotChecked(what.to_string()).into()
}

/// Whether an error says that something could not be looked at.
pub fn is_not_checked(error: &Error) -> bool {
    error.chain().any(|it| it.is::<NotChecked>())
}

/// The error as an ordinary failure.
pub fn as_failure(error: &Error) -> Error {
    anyhow!("{error:#}")
}
