// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where libraries are.

use anyhow::{Result, bail};

/// Where libraries are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In compartments, which one process runs.
    Inside,
    /// In processes.
    Outside,
}

impl Place {
    /// The place that a word names.
    pub fn of(word: &str) -> Result<Self> {
        match word {
            "inside" => Ok(Self::Inside),
            "outside" => Ok(Self::Outside),
            _ => bail!("{word} is neither inside nor outside"),
        }
    }

    /// The word that names the place.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inside => "inside",
            Self::Outside => "outside",
        }
    }
}
