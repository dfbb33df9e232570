// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real programs, and stress-ng on several CPUs: `bench programs --json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Figures, NATIVE};
use crate::format;

/// Figures of programs.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Programs {
    /// What the figures of programs count.
    pub unit: String,
    /// Model of the CPU.
    pub cpu: String,
    /// Release of Linux.
    pub linux: String,
    /// Programs, in instructions.
    pub programs: Vec<Program>,
    /// Stressors of stress-ng, in time of the emulator.
    #[serde(default)]
    pub stress: Vec<Stressor>,
}

/// Figures of a program.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Program {
    /// Name of the program.
    pub name: String,
    /// What is counted as one.
    pub unit: String,
    /// Most percent that the protection may add.
    pub goal_percent: f64,
    /// Instructions for one unit, by kernel: the median of the samples.
    pub instructions: Figures,
    /// Instructions by each pair of runs, by kernel.
    #[serde(default)]
    pub samples: BTreeMap<String, Vec<f64>>,
    /// Calls of the inner domain for one unit, by mode.
    pub calls: Figures,
}

impl Program {
    /// Computes the percent that a mode adds.
    pub fn added(&self, mode: &str) -> Option<f64> {
        format::added(
            *self.instructions.get(NATIVE)?,
            *self.instructions.get(mode)?,
        )
    }
}

/// Times of a stressor on a machine.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Stressor {
    /// Name of the stressor.
    pub name: String,
    /// CPUs of the machine, and processes that work.
    pub cpus: u32,
    /// What the figures count.
    pub unit: String,
    /// Figures by kernel.
    pub time: Figures,
}
