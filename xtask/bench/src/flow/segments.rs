// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a segment of the log takes.

use anyhow::Result;
use serde::Serialize;

use super::FOLDER;
use crate::compartments::lines;

/// A program with many words.
const PROGRAM: &str = "sglib-combined";

/// What the guest runs.
pub fn command() -> String {
    format!("donjon-flow segments {FOLDER} {PROGRAM}")
}

/// What one segment more takes, whatever its length: the exit, the commit, and the way back. The
/// host neither keeps nor hashes it.
#[derive(Debug, Serialize)]
pub struct Log {
    /// Instructions.
    pub segment: f64,
    /// Segments of 4 KiB and of 1 MiB in the two runs that were compared.
    pub segments: [u64; 2],
}

impl Log {
    /// Reads what the guest printed.
    pub fn of(text: &str) -> Result<Self> {
        let [short, many, long, few] = lines::one(text, "segments")?;
        Ok(Self {
            segment: (short as f64 - long as f64) / (many - few) as f64,
            segments: [many, few],
        })
    }

    /// A line of the report.
    pub fn line(&self) -> String {
        format!(
            "a segment of the log: {:.0} instructions besides its bytes ({PROGRAM}, {} segments \
             against {})",
            self.segment, self.segments[0], self.segments[1]
        )
    }
}
