// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cost as the work grows: `bench scale --json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Figures, calls};

/// Figures by pages, CPUs and RAM.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Scale {
    /// What figures count, where nothing else is said.
    pub unit: String,
    /// Model of the CPU.
    pub cpu: String,
    /// Release of Linux.
    pub linux: String,
    /// Operations by size.
    pub operations: Vec<Operation>,
    /// How fast costs grow.
    pub exponents: Vec<Exponent>,
    /// Work on several CPUs.
    pub cpus: Vec<Cpus>,
    /// Memory by RAM.
    pub memory: Vec<Memory>,
    /// Boot over each kernel.
    pub boot: Option<Boots>,
    /// Longest call of each function.
    pub longest: Vec<Longest>,
}

/// An operation on a number of pages.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Operation {
    /// Name of the operation.
    pub name: String,
    /// Number of pages of 4 KiB.
    pub pages: u64,
    /// How often it was measured; figures are medians.
    pub repetitions: usize,
    /// Cost over the native kernel.
    pub native: Native,
    /// Cost in each mode.
    pub modes: BTreeMap<String, Protected>,
}

/// Cost of an operation over the native kernel.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Native {
    /// Instructions of one operation.
    pub instructions: f64,
}

/// Cost of an operation in a mode.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Protected {
    /// Instructions of one operation, those inside among them.
    pub instructions: f64,
    /// Calls of the inner domain.
    pub calls: f64,
    /// Instructions of these calls without the gate, counted while each is measured, which makes
    /// them longer.
    pub inside: f64,
}

/// Exponents of the power of the work with which a cost grows.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Exponent {
    /// Name of the cost.
    pub name: String,
    /// What the cost grows with.
    pub over: String,
    /// Exponent over the native kernel, if that has the cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<f64>,
    /// Exponent in each mode.
    pub modes: Figures,
    /// Exponents between the largest sizes, over pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_steps: Option<LastSteps>,
}

/// Exponents from each of the largest sizes to the next.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct LastSteps {
    /// Exponents over the native kernel, if that has the cost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub native: Vec<f64>,
    /// Exponents in each mode.
    pub modes: BTreeMap<String, Vec<f64>>,
    /// Most that those of the modes may be.
    pub at_most: Vec<f64>,
}

/// Work on a number of CPUs.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Cpus {
    /// Number of CPUs.
    pub cpus: u32,
    /// Time over the native kernel.
    pub native: Time,
    /// Time and contention in each mode.
    pub modes: BTreeMap<String, Contended>,
}

/// Time of the emulator.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Time {
    /// Milliseconds of QEMU's wall time for the whole work.
    pub wall_milliseconds: f64,
    /// Milliseconds by kind of work.
    pub kinds: Figures,
}

/// Time, and what CPUs waited for.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Contended {
    /// Time of the emulator.
    #[serde(flatten)]
    pub time: Time,
    /// Calls of the inner domain.
    pub calls: f64,
    /// How often a CPU looked at a lock and found it held, by kind of lock.
    pub waits: Figures,
}

/// Memory of an idle machine.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Memory {
    /// RAM in KiB.
    pub ram_kib: u64,
    /// Memory over the native kernel.
    pub native: Linux,
    /// Memory in each mode.
    pub modes: BTreeMap<String, Inner>,
}

/// Memory that Linux says that it has.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Linux {
    /// Memory that it manages, in KiB.
    pub total_kib: u64,
    /// Memory that programs can get of this, in KiB.
    pub available_kib: u64,
}

/// Memory of a guest with the inner domain.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Inner {
    /// Memory that Linux does not have, in KiB.
    pub inner_kib: u64,
    /// Code of the inner domain, in KiB.
    pub text_kib: u64,
    /// Memory that no device reaches and that Linux gives to pools and compartments alone, beside
    /// the pools that there are from the beginning, in KiB. Documents of older versions lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserve_kib: Option<u64>,
    /// Free part of this reserve, in KiB. Documents of older versions lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserve_free_kib: Option<u64>,
    /// Memory that Linux has.
    pub linux: Linux,
}

/// Boots over each kernel.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Boots {
    /// Boot over the native kernel.
    pub native: Boot,
    /// Boot in each mode.
    pub modes: BTreeMap<String, Boot>,
}

/// A boot. The parts are from Linux's log, in nanoseconds of one instruction.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Boot {
    /// Instructions from reset to the first process.
    pub instructions: f64,
    /// Nanoseconds in which the CPU waited meanwhile, which are not among them.
    pub waited: f64,
    /// Part from reset until Linux has a clock: the boot stage, and the beginning of Linux.
    pub to_clock: f64,
    /// Part from there until Linux gives back its initialisation code.
    pub to_kernel_up: f64,
    /// Part from there until it starts the first process; the hand-over is in it.
    pub to_process: f64,
    /// Part from there to the first instruction of it that is counted.
    pub to_first_instruction: f64,
}

/// Longest call of a function in a mode.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Longest {
    /// Name of the mode.
    pub mode: String,
    /// Longest call.
    #[serde(flatten)]
    pub call: calls::Longest,
}
