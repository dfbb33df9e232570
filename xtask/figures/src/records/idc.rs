// SPDX-License-Identifier: MIT OR Apache-2.0
//! The null inter-domain call: `bench idc --json`, and `bench --serial` and `--ssh` on boards.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// Figures of the null call, and of what it is compared with.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Idc {
    /// What the figures count.
    pub unit: String,
    /// How many samples each operation has.
    pub samples: usize,
    /// Figures of the CPU that was measured, or of the first one.
    #[serde(flatten)]
    pub figures: Figures,
    /// Model of the CPU.
    #[serde(default)]
    pub cpu: String,
    /// Release of Linux.
    #[serde(default)]
    pub linux: String,
    /// Figures of a CPU of each type, where types are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cores: Vec<Core>,
}

/// Figures of one CPU of a machine whose CPUs may be of several types.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Core {
    /// Value of `MIDR_EL1`.
    pub midr: String,
    /// Number of the CPU, the first of its type.
    pub cpu: u32,
    /// Figures of this CPU.
    #[serde(flatten)]
    pub figures: Figures,
}

/// Costs of a CPU's operations.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Figures {
    /// Costs of the null call, by mode.
    pub modes: IndexMap<String, Cost>,
    /// Cost of a null system call under Donjon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub null_syscall: Option<Cost>,
    /// Cost of a call of a function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function_call: Option<Cost>,
    /// Cost of a call of the firmware.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware_call: Option<Cost>,
    /// Cost of a null system call without Donjon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub null_syscall_native: Option<Cost>,
}

/// Cost of one operation, and what its path does to the translation regime where that is known.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Cost {
    /// Arithmetic mean of the samples.
    pub mean: f64,
    /// Median of the samples.
    pub median: f64,
    /// Standard deviation of the samples.
    pub stddev: f64,
    /// Writes of `TCR_EL1` on the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcr_writes: Option<usize>,
    /// Instruction barriers on the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isb: Option<usize>,
    /// Invalidations of the TLB on the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tlb_ops: Option<usize>,
}
