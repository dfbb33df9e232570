// SPDX-License-Identifier: MIT OR Apache-2.0
//! Attacks and their controls: `attack --json`, which is a list.

use serde::{Deserialize, Serialize};

/// Outcome of an attack that has to be.
pub const STOPPED: &str = "stopped";

/// An attack and what came of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Attack {
    /// Earlier name of the attack, or its name.
    pub id: String,
    /// Name of the attack.
    pub name: String,
    /// How the inner domain was entered.
    pub mode: String,
    /// Outcome with all protections on: `stopped` or `succeeded`.
    pub outcome: String,
    /// What stopped it, with semicolons between.
    pub by: String,
    /// Number of violations that the auditor found afterwards.
    pub audit_violations: usize,
    /// Outcome of its controls: `succeeded`, `failed` or `n/a`.
    pub control: String,
    /// What it does, what its controls did, and what is wrong, with semicolons between.
    pub note: String,
}
