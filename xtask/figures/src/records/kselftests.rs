// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's own selftests, natively and protected: `kselftest --json`.

use serde::{Deserialize, Serialize};

/// Results of selftests over both kernels.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Kselftests {
    /// How the inner domain was entered.
    pub mode: String,
    /// Model of the CPU.
    pub cpu: String,
    /// Number of CPUs.
    pub cpus: u32,
    /// Release of Linux.
    pub linux: String,
    /// Programs, in the order in which they ran.
    pub programs: Vec<Program>,
}

/// Results of a program.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Program {
    /// Name of the program.
    pub name: String,
    /// Outcome over the native kernel.
    pub native: Outcome,
    /// Outcome over the inner domain.
    pub protected: Outcome,
    /// Checks that are worse over the inner domain.
    pub worse: Vec<String>,
}

/// How a program ended.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Outcome {
    /// Exit status; nothing if it did not end.
    pub status: Option<u8>,
    /// Checks that passed.
    pub passed: u32,
    /// Checks that failed.
    pub failed: u32,
    /// Checks that were skipped.
    pub skipped: u32,
}

impl Kselftests {
    /// Lists the checks that are worse, each with the name of its program.
    pub fn worse(&self) -> Vec<String> {
        let each = |program: &Program| {
            let of = |it: &String| format!("{}: {it}", program.name);
            program.worse.iter().map(of).collect::<Vec<_>>()
        };
        self.programs.iter().flat_map(each).collect()
    }
}
