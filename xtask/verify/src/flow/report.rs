// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is said about a run.

use std::fmt;

use donjon_token::Claims;

use crate::verdict::{OPEN, PROVEN, WRONG};
use crate::{Cause, Evidence, Outcome};

/// What the files of a run say and prove.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Names and values that the files say.
    pub says: Vec<(&'static str, String)>,
    /// What the token says.
    pub claims: Option<Claims>,
    /// What the transcript says, if it is that of the token.
    pub outcome: Option<Outcome>,
    /// Digests of the files.
    pub evidence: Evidence,
    /// What is wrong.
    pub wrong: Vec<String>,
    /// What is wrong, for programs.
    pub causes: Vec<Cause>,
    /// What a log shows that is not proven.
    pub unproven: Vec<String>,
    /// What holds, if nothing is wrong.
    pub proven: Vec<String>,
    /// What does not follow.
    pub open: Vec<String>,
    /// Blocks of the path, rounds of counted loops among them.
    pub blocks: u128,
    /// Whether the program ended by itself.
    pub is_finished: bool,
}

impl Report {
    /// Returns the status of the command: 0 for a run that is proven to its end, 1 if something is
    /// wrong, 3 if all is right and the program did not end by itself.
    pub fn status(&self) -> u8 {
        match (self.wrong.is_empty(), self.is_finished) {
            (false, _) => 1,
            (true, true) => 0,
            (true, false) => 3,
        }
    }

    /// Says whether something is wrong.
    pub fn is_wrong(&self) -> bool {
        !self.wrong.is_empty()
    }

    /// Adds something that is wrong.
    pub fn wrong(&mut self, cause: Cause, what: impl Into<String>) {
        self.wrong.push(what.into());
        self.causes.push(cause);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "The report says:")?;
        for (what, value) in &self.says {
            writeln!(f, "  {what:12} {value}")?;
        }
        let is_void = !self.wrong.is_empty();
        for (title, list) in [
            (WRONG, &self.wrong),
            ("Unproven, for diagnosis only:", &self.unproven),
            (PROVEN, &self.proven),
            (OPEN, &self.open),
        ] {
            if list.is_empty() || is_void && title == PROVEN {
                continue;
            }
            writeln!(f, "{title}")?;
            for it in list {
                writeln!(f, "  * {it}")?;
            }
        }
        let last = match self.status() {
            0 => "accepted",
            1 => "rejected",
            _ => "right as far as it goes: the program did not end by itself",
        };
        writeln!(f, "{last}")
    }
}
