// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wall time of a fixed amount of work: `bench stress --json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Figures;

/// Name of the sum of all kinds of work.
pub const ALL: &str = "all";

/// Times of a fixed amount of work.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Stress {
    /// What the figures of the work count.
    pub unit: String,
    /// CPUs that work at a time.
    pub cpus: u32,
    /// How much work there is.
    #[serde(default)]
    pub times: u32,
    /// Milliseconds by kind of work and kernel.
    pub work: BTreeMap<String, Figures>,
    /// Instructions for 64 MiB of anonymous memory, touched and given back, by kernel.
    pub huge: Figures,
    /// How often a CPU looked at a lock of the inner domain and found it held while the work went
    /// on, by mode and kind of lock.
    pub waits: BTreeMap<String, Figures>,
    /// Calls of the inner domain while the work went on, by mode.
    pub calls: Figures,
}
