// SPDX-License-Identifier: MIT OR Apache-2.0
//! What others published: `figures.csv` and `compartments.csv`, which name their sources.

pub mod compartments;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::format::added;

/// Reads the rows of a table `name` with commas between its cells and `#` before remarks.
///
/// # Errors
///
/// If the text is not a table of such rows.
pub fn read<T: DeserializeOwned>(name: &str, text: &str) -> Result<Vec<T>> {
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let rows = reader.deserialize().collect::<Result<_, _>>();
    rows.with_context(|| name.to_owned())
}

/// A figure of others.
#[derive(Debug, Deserialize, Serialize)]
pub struct Published {
    /// System that the figure is of.
    pub system: String,
    /// Where it stands.
    pub source: String,
    /// The platform that it was measured on.
    pub platform: String,
    /// What was measured.
    pub test: String,
    /// The row of ours that measures the same; may be empty.
    pub row: String,
    /// Which form of the system; may be empty.
    pub variant: String,
    /// Unit of the two figures behind it.
    pub unit: String,
    /// The figure without the protection.
    pub base: Option<f64>,
    /// The figure with the protection.
    pub value: Option<f64>,
    /// What it adds, if that is what was published.
    percent: Option<f64>,
    /// The section that shows it, if it has no row; empty for that of LMBench.
    pub section: String,
}

impl Published {
    /// Gives what the system adds, in percent.
    pub fn added(&self) -> Option<f64> {
        self.percent.or_else(|| added(self.base?, self.value?))
    }

    /// Says whether the figure is of that system, platform and variant.
    pub fn is(&self, system: &str, platform: &str, variant: &str) -> bool {
        (self.system.as_str(), self.variant.as_str()) == (system, variant)
            && self.platform.contains(platform)
    }
}

/// Reads all figures but those of compartments.
///
/// # Errors
///
/// If the file is not a table of them.
pub fn all() -> Result<Vec<Published>> {
    read("figures.csv", include_str!("figures.csv"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::Part;

    #[test]
    fn each_figure_has_a_source_and_a_value() {
        for it in all().expect("the file") {
            assert!(!it.source.is_empty() && !it.platform.is_empty(), "{it:?}");
            assert!(it.value.is_some() || it.added().is_some(), "{it:?}");
            let sections = ["", Part::Programs.name(), Part::Scale.name()];
            assert!(sections.contains(&it.section.as_str()), "{it:?}");
            assert!(it.row.is_empty() || it.section.is_empty(), "{it:?}");
        }
    }
}
