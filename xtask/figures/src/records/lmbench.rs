// SPDX-License-Identifier: MIT OR Apache-2.0
//! LMBench over the native kernel and in each mode: `bench lmbench --json`.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// Figures of LMBench's rows.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Lmbench {
    /// What the figures count.
    pub unit: String,
    /// Places of the stack in its page, over which figures are means.
    pub layouts: u32,
    /// Where the programs come from.
    pub source: String,
    /// Rows by name, in the order of the table.
    pub rows: IndexMap<String, Row>,
    /// Name of the machine, where it is a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Name of the core, where the machine is a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
}

/// Figures of a row.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Row {
    /// Mean over the native kernel.
    pub native: f64,
    /// Figures by mode.
    #[serde(flatten)]
    pub modes: IndexMap<String, Cell>,
}

/// Figures of a row in a mode.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Cell {
    /// Mean over layouts.
    pub mean: f64,
    /// Standard deviation over layouts.
    pub stddev: f64,
    /// Percent more than native.
    pub overhead_percent: f64,
}
