// SPDX-License-Identifier: MIT OR Apache-2.0
//! Experiments that search memory.

use serde::{Deserialize, Serialize};

/// Trials of each who may read memory, against compartments and processes.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Trust {
    /// Each trial.
    pub trials: Vec<Trial>,
}

/// A trial.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Trial {
    /// Whether the messages were in compartments.
    pub is_inside: bool,
    /// Who tried to read them.
    pub who: String,
    /// Whether memory with messages could be read.
    pub is_granted: bool,
    /// Whether the messages were seen.
    pub is_visible: bool,
    /// Whether a process is open to them.
    #[serde(default)]
    pub is_expected_outside: bool,
    /// Ways that they tried.
    pub ways: Vec<Tried>,
}

/// A way to read memory, as it was tried.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Tried {
    /// Name of the way.
    pub name: String,
    /// What came of it.
    #[serde(flatten)]
    pub counts: Counts,
}

/// Counts of a way to read memory.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Counts {
    /// Whether this Linux has the way.
    pub is_there: bool,
    /// Pages that were read.
    pub read: u64,
    /// Pages that were not read.
    pub refused: u64,
    /// Pages with messages, of those that were read by a way that tells.
    pub reached: u64,
    /// Words that were found.
    pub found: u64,
}

/// Searches of all memory while two libraries exchange messages.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Libraries {
    /// CPUs of the guest.
    pub cpus: u32,
    /// RAM of the guest.
    pub memory: String,
    /// Search of processes.
    pub outside: Side,
    /// Search of compartments.
    pub inside: Side,
    /// Ways to read memory.
    pub ways: Vec<Found>,
}

impl Libraries {
    /// Counts the words that were found in compartments.
    pub fn found_inside(&self) -> u64 {
        self.ways.iter().map(|it| it.inside.found).sum()
    }
}

/// A search.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Side {
    /// How often each way was gone.
    pub rounds: u64,
    /// How long it took.
    pub seconds: u64,
    /// Messages that each library has said meanwhile.
    pub messages: u64,
}

/// A way to read memory, and what it found.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Found {
    /// Name of the way.
    pub name: String,
    /// What it found of processes.
    pub outside: Counts,
    /// What it found of compartments.
    pub inside: Counts,
}
