// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cost of flow attestation: `bench flow --json`.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// Figures of flow attestation.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Flow {
    /// What figures count.
    pub unit: String,
    /// Model of the CPU.
    pub cpu: String,
    /// Release of Linux.
    pub linux: String,
    /// Programs of the paper's figure 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fig5: Option<Fig5>,
    /// Cost of hashing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<Hash>,
    /// Cost of segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<Log>,
}

/// Programs in four builds. Percentages are of geometric means over the programs.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Fig5 {
    /// Without instrumentation, in a compartment against a process.
    pub plain_inside_over_outside_percent: f64,
    /// In a process, with instrumentation against without.
    pub instrumented_over_plain_percent: f64,
    /// With instrumentation, in a compartment under flow attestation against a process.
    pub instrumented_inside_over_outside_percent: f64,
    /// In a compartment, with instrumentation against without.
    pub instrumented_inside_over_plain_inside_percent: f64,
    /// A run with all that it takes, against a process without instrumentation: the log kept and
    /// hashed by the CPU's instructions for SHA-256.
    pub all_in_sha_percent: f64,
    /// With SHA-256 without such instructions.
    pub all_in_software_percent: f64,
    /// Bytes of log for each instruction of the program without instrumentation.
    pub log_bytes_per_instruction: f64,
    /// Programs by name, in the paper's order.
    pub programs: IndexMap<String, Program>,
}

/// Medians of a program's instructions.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Program {
    /// Repetitions of its work.
    pub repetitions: u64,
    /// In a process, without instrumentation.
    pub plain_outside: f64,
    /// In a compartment, without instrumentation.
    pub plain_inside: f64,
    /// In a process, with instrumentation.
    pub instrumented_outside: f64,
    /// In a compartment under flow attestation.
    pub instrumented_inside: f64,
    /// With the log kept and hashed, by the CPU's instructions for SHA-256.
    pub all_in_sha: f64,
    /// With the log kept and hashed without such instructions.
    pub all_in_software: f64,
    /// Words of the log.
    pub words: f64,
}

/// Instructions of SHA-256 for a byte.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Hash {
    /// With the CPU's instructions for SHA-256.
    pub sha_extension: f64,
    /// Without such instructions.
    pub software: f64,
}

/// Cost of one segment of the log more, whatever its length: the exit, the commit, and the way
/// back. The host neither keeps nor hashes the log.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Log {
    /// Instructions.
    pub segment: f64,
    /// Segments of 4 KiB and of 1 MiB in the two runs that were compared.
    pub segments: [u64; 2],
}
