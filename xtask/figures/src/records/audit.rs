// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the auditor saw of a guest: `audit --json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Audits of one guest.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Audit {
    /// Violations of all audits, with the moment of each.
    pub violations: Vec<Violation>,
    /// How much the last audit looked at.
    #[serde(flatten)]
    pub last: Option<Sight>,
    /// Each audit by itself.
    pub audits: Vec<Once>,
}

/// One audit.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Once {
    /// Violations that it found.
    pub violations: Vec<Violation>,
    /// How much it looked at.
    #[serde(flatten)]
    pub sight: Sight,
    /// When it looked.
    pub at: String,
}

/// Something that must not be.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Violation {
    /// Name of the invariant, `I1` and so on.
    pub invariant: String,
    /// Virtual address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub va: Option<u64>,
    /// Physical address of the frame concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pa: Option<u64>,
    /// Level of the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<u8>,
    /// Value of the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub descriptor: Option<u64>,
    /// Whose frame it is.
    #[serde(default)]
    pub owner: String,
    /// What is wrong.
    pub text: String,
    /// When it was found, where several audits are in one list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// How much an audit looked at.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Sight {
    /// CPUs that run.
    pub cpus: usize,
    /// Number of these CPUs that were inside the inner domain.
    #[serde(default)]
    pub cpus_inside: usize,
    /// Number of CPUs that were in compartments.
    #[serde(default)]
    pub cpus_in_compartments: usize,
    /// Roots of user tables.
    pub user_roots: usize,
    /// Tables that walks reached.
    pub tables: usize,
    /// Valid leaf entries in these tables.
    pub leaves: usize,
    /// Frames of RAM by type.
    pub frames: BTreeMap<String, u64>,
    /// Private frames that a compartment has; the others of the type are free.
    #[serde(default)]
    pub private_in_use: usize,
    /// Pages of the outer view that EL1 can execute.
    pub exec_pages: usize,
    /// Bytes of code that were scanned.
    pub code_bytes: u64,
    /// Combinations of forged table geometry and address.
    pub geometries: usize,
}
