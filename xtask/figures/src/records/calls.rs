// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of Linux's operations, and the longest of each function: `bench calls --json`.

use serde::{Deserialize, Serialize};

/// Name of the function that waits where its caller wants to wait.
pub const WAITING: &str = "text_wait";
/// Name of the function that is called once, before anything else runs.
pub const ONCE: &str = "handover";

/// Figures that a guest counted of its calls.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Calls {
    /// Means of one operation each.
    pub operations: Vec<Operation>,
    /// Longest call of each function.
    pub longest: Vec<Longest>,
}

/// Cost of an operation on the average.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Operation {
    /// Name of the operation.
    pub name: String,
    /// Calls that change tables.
    pub calls: f64,
    /// Calls that fill tables of processes.
    pub maps: f64,
    /// Calls that empty tables of processes.
    pub flushes: f64,
    /// Calls that switch roots.
    pub switches: f64,
    /// Instructions inside, of all of these calls.
    pub instructions: f64,
}

/// Longest call of a function.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Longest {
    /// Name of the function.
    pub function: String,
    /// Instructions between the gate's ways in and out.
    pub instructions: u64,
}
