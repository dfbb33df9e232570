// SPDX-License-Identifier: MIT OR Apache-2.0
//! What hashing the log takes its host.

use anyhow::Result;
use serde::Serialize;

use crate::compartments::lines;

/// What the guest runs.
pub const COMMAND: &str = "donjon-flow hash";

const MIB: f64 = 1_048_576.0;

/// Instructions of SHA-256 for a byte.
#[derive(Debug, Serialize)]
pub struct Hash {
    /// With the CPU's instructions for it.
    pub sha_extension: f64,
    /// Without.
    pub software: f64,
}

impl Hash {
    /// Reads what the guest printed.
    pub fn of(text: &str) -> Result<Self> {
        let [extension, software] = lines::one(text, "hash")?;
        let of_byte = |it: u64| it as f64 / MIB;
        Ok(Self {
            sha_extension: of_byte(extension),
            software: of_byte(software),
        })
    }

    /// A line of the report.
    pub fn line(&self) -> String {
        format!(
            "SHA-256 of the log by its host: {:.2} instructions a byte with the CPU's instructions \
             for it, {:.2} without",
            self.sha_extension, self.software
        )
    }
}
