// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compartments against processes: `bench compartments --json`.

mod counted;
mod searched;

use serde::{Deserialize, Serialize};

pub use counted::{
    Calls, Costs, Loop, Loops, Messages, Number, Pipes, Samples, Series, Size, Sizes,
};
pub use searched::{Counts, Found, Libraries, Side, Trial, Tried, Trust};

/// Figures of all experiments that were made.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Compartments {
    /// What figures count.
    pub unit: String,
    /// Model of the CPU.
    pub cpu: String,
    /// Release of Linux.
    pub linux: String,
    /// Many compartments at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<Number>,
    /// Messages of 1024 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipe: Option<Pipes>,
    /// Blocks of memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Sizes>,
    /// Loops that compute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_loops: Option<Loops>,
    /// Calls, and wiping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Calls>,
    /// Who can read memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// Searches while messages are exchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub libraries: Option<Libraries>,
    /// Goals of the experiments.
    pub goals: Vec<Goal>,
}

/// A goal: a figure and the most that it may be.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Goal {
    /// What it is about.
    pub name: String,
    /// Figure that was measured; nothing if that is no number.
    pub figure: Option<f64>,
    /// Most that the figure may be.
    pub most: f64,
    /// Whether the figure is not more.
    pub is_met: bool,
}
