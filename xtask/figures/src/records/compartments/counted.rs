// SPDX-License-Identifier: MIT OR Apache-2.0
//! Experiments that are counted in instructions.

use serde::{Deserialize, Serialize};

/// Many compartments at once.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Number {
    /// How many were alive at once.
    pub count: u64,
    /// Private frames of one.
    pub frames: u64,
    /// Cost of making them.
    pub made: Series,
    /// Cost of ending them.
    pub ended: Series,
    /// Cost of the end of the last one and of giving memory back to Linux.
    #[serde(default)]
    pub back: u64,
    /// Linux's free memory in KiB before, with all of them and afterwards.
    pub free_kib: [u64; 3],
    /// How many there were, KiB of RAM that were not free, and instructions since the first.
    pub rows: Vec<[u64; 3]>,
}

impl Number {
    /// Computes the KiB of RAM for one compartment: its own, and what Linux and the inner domain
    /// have for it.
    pub fn kib_each(&self) -> f64 {
        let [before, alive, _] = self.free_kib;
        before.saturating_sub(alive) as f64 / self.count as f64
    }
}

/// Costs of a series of compartments.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Series {
    /// Cost of the first compartment.
    pub first: u64,
    /// Cost of the last compartment.
    pub last: u64,
    /// Median of the first ones.
    pub first_median: f64,
    /// Median of the last ones.
    pub last_median: f64,
    /// Highest cost.
    pub most: u64,
    /// Mean of all costs.
    pub mean: f64,
}

/// Messages in each way.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Pipes {
    /// Ways of a message.
    pub ways: Vec<Messages>,
}

/// Messages in one way.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Messages {
    /// Name of the way.
    pub name: String,
    /// Median instructions of a message, from before it is written until it is read.
    pub total: f64,
    /// Each message: its number, instructions of writing and reading, which are 0 where they are
    /// not told apart, and of both.
    #[serde(default)]
    pub trials: Vec<[u64; 4]>,
}

/// Blocks of memory.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Sizes {
    /// Sizes of blocks.
    pub sizes: Vec<Size>,
}

/// Blocks of one size.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Size {
    /// MB of 1,048,576 bytes.
    pub megabytes: u64,
    /// Costs in a compartment.
    pub inside: Costs,
    /// Costs in a process.
    pub outside: Costs,
    /// Cost of taking the memory from Linux before the compartment grows.
    pub reserve: u64,
    /// Cost of ending the compartment, whose memory goes back to Linux.
    pub end: u64,
}

/// Median instructions for a block.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Costs {
    /// Cost of having the memory and touching each page.
    pub grow: u64,
    /// Cost of writing each word.
    pub write: u64,
    /// Cost of reading each word.
    pub read: u64,
    /// Cost of giving it back.
    pub release: u64,
}

/// Loops that compute.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Loops {
    /// Loops, inside and outside.
    pub loops: Vec<Loop>,
}

/// A loop that computes.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Loop {
    /// Name of the loop.
    pub name: String,
    /// Median instructions in a process.
    pub outside: f64,
    /// Median instructions in a compartment.
    pub inside: f64,
    /// Each trial: its number, outside, inside.
    #[serde(default)]
    pub trials: Vec<[u64; 3]>,
}

/// Calls, and wiping.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Calls {
    /// A call and back, from user space.
    pub user: Samples,
    /// A request that the device does not know, for comparison.
    pub unknown_request: Samples,
    /// A call of a compartment that does nothing and back, from the kernel.
    pub kernel: Samples,
    /// What the end of a compartment takes more if it has a MiB of heap.
    pub wipe_mib: Samples,
}

/// Samples of one figure.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Samples {
    /// Median of the samples.
    pub median: f64,
    /// Each sample.
    pub samples: Vec<u64>,
}
