// SPDX-License-Identifier: MIT OR Apache-2.0
//! What others published of library compartments: `compartments.csv`, which names its source.

use anyhow::Result;
use serde::{Deserialize, Serialize};

/// A figure, or a word where something was granted or not.
#[derive(Debug, Deserialize, Serialize)]
pub struct Row {
    experiment: String,
    source: String,
    /// How many compartments, MB of a block, or the number of a message.
    size: Option<u64>,
    test: String,
    variant: String,
    unit: String,
    /// The figure without a compartment.
    outside: String,
    /// The figure in a compartment.
    inside: String,
}

/// Reads all figures of library compartments.
///
/// # Errors
///
/// If the file is not a table of them.
pub fn all() -> Result<Vec<Row>> {
    super::read("compartments.csv", include_str!("compartments.csv"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_figure_has_a_source_and_a_value() {
        let all = all().expect("the file");
        for it in &all {
            assert!(!it.source.is_empty() && !it.inside.is_empty(), "{it:?}");
            let is_word = it.experiment == "trust";
            assert!(is_word || it.inside.parse::<f64>().is_ok(), "{it:?}");
        }
        let count = |it: &str| all.iter().filter(|row| row.experiment == it).count();
        let counts = ["number", "memory", "cpu", "pipe", "trust"].map(count);
        assert_eq!(counts, [34, 40, 8, 15, 4]);
    }
}
