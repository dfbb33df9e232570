// SPDX-License-Identifier: MIT OR Apache-2.0
//! Failures of a test that no later success takes back.
//!
//! Most failures of a guest on a busy host say little: it was slow, or a race was lost. These say
//! that the project is wrong, however seldom they come. An error that is one of them carries a
//! [`Finding`], and the test that ends with it is not run again.

use std::fmt::{self, Display};

use anyhow::{Error, Result};

/// How the console begins the report of an inner domain that stops the machine.
pub const INNER_PANIC: &str = "donjon: PANIC";
/// How guests say that an attempt succeeded.
pub const SUCCEEDED: &str = "SUCCEEDED";

/// What a test found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// An attack succeeded against all protections.
    Attack,
    /// A run of the gate, or a forged table geometry, got out.
    Escape,
    /// An invariant did not hold.
    Violation,
    /// The inner domain stopped the machine.
    Panic,
    /// A figure is not what it has to be.
    Figures,
}

impl Finding {
    /// An error with this text, which has the finding in it.
    pub fn error(self, text: impl Display) -> Error {
        Found {
            finding: self,
            text: text.to_string(),
        }
        .into()
    }

    /// The finding that an error has in it. A report of the inner domain's counts wherever it is
    /// quoted.
    #[must_use]
    pub fn of(error: &Error) -> Option<Self> {
        let found = error
            .chain()
            .find_map(|it| it.downcast_ref::<Found>())
            .map(|it| it.finding);
        found.or_else(|| {
            format!("{error:#}")
                .contains(INNER_PANIC)
                .then_some(Self::Panic)
        })
    }
}

/// Fails if the hostile module, or a program that tries what it may not, says in `text` that
/// something succeeded.
///
/// # Errors
///
/// A [`Finding::Attack`], which has `text` as its text.
pub fn none_succeeded(text: &str) -> Result<()> {
    if text.contains(SUCCEEDED) {
        return Err(Finding::Attack.error(text));
    }
    Ok(())
}

impl Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Attack => "an attack succeeded",
            Self::Escape => "an escape",
            Self::Violation => "a violation of an invariant",
            Self::Panic => "a panic of the inner domain",
            Self::Figures => "a difference of figures",
        })
    }
}

/// An error with a finding.
#[derive(Debug)]
struct Found {
    finding: Finding,
    text: String,
}

impl Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Found {}

#[cfg(test)]
mod tests {
    use anyhow::{Context, anyhow};

    use super::*;

    #[test]
    fn a_finding_is_found_below_what_was_added_to_the_error() {
        let inner: Result<()> = Err(Finding::Escape.error("it ran"));
        let error = inner
            .context("run 5")
            .context("gate")
            .expect_err("an error");
        assert_eq!(Finding::of(&error), Some(Finding::Escape));
        assert_eq!(format!("{error:#}"), "gate: run 5: it ran");
    }

    #[test]
    fn a_panic_of_the_inner_domain_is_one_where_it_is_quoted() {
        let error = anyhow!("the guest panicked: [ 1.2] donjon: PANIC on CPU 0x0: no such thing");
        assert_eq!(Finding::of(&error), Some(Finding::Panic));
        let error = anyhow!("the guest panicked: Kernel panic - not syncing: VFS");
        assert_eq!(Finding::of(&error), None);
    }
}
