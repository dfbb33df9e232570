// SPDX-License-Identifier: MIT OR Apache-2.0
//! The record of a whole run, which is written to a file.

use anyhow::Result;
use donjon_machine::finding::Finding;
use serde::Serialize;

use super::boot::Boots;
use super::cpus::Cpus;
use super::exponent::{self, Exponent, MOST};
use super::memory::Memory;
use super::operations::Operation;
use crate::calls::{self, Calls};

/// The name of the kernel without Donjon.
pub const NATIVE: &str = "native";
/// What is counted, where nothing else is said.
pub const UNIT: &str = "instructions (-icount shift=0)";

/// The document.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// What figures count.
    pub unit: &'static str,
    /// Model of the CPU.
    pub cpu: String,
    /// Release of Linux.
    pub linux: String,
    /// Operations by size.
    pub operations: Vec<Operation>,
    /// How fast they grow.
    pub exponents: Vec<Exponent>,
    /// Work on several CPUs.
    pub cpus: Vec<Cpus>,
    /// Memory by RAM.
    pub memory: Vec<Memory>,
    /// The boot.
    pub boot: Option<Boots>,
    /// The longest call of each function.
    pub longest: Vec<Longest>,
}

/// The longest call of a function in a mode.
#[derive(Debug, Serialize)]
pub struct Longest {
    /// The mode.
    pub mode: String,
    /// The call.
    #[serde(flatten)]
    pub call: calls::Longest,
}

impl Longest {
    /// The longest calls of all functions in a mode.
    pub fn of(mode: &str, calls: Calls) -> impl Iterator<Item = Self> {
        calls.longest.into_iter().map(move |call| Self {
            mode: mode.into(),
            call,
        })
    }
}

impl Report {
    /// Fails if a cost grows faster than the work, if the inner domain or the reserve has more
    /// memory than it may have, or if a call is too long.
    pub fn check(&self) -> Result<()> {
        let wrong: Vec<String> = self.wrong().collect();
        if wrong.is_empty() {
            return Ok(());
        }
        Err(Finding::Figures.error(wrong.join("\n")))
    }

    fn wrong(&self) -> impl Iterator<Item = String> {
        let growth = self.exponents.iter().flat_map(Exponent::above);
        let growth = growth.map(|it| format!("the exponent is above {MOST}: {it}"));
        let late = self.exponents.iter().flat_map(Exponent::above_at_the_end);
        let late = late.map(|it| format!("between the largest sizes the exponent is {it}"));
        let missing = exponent::missing(&self.operations, &self.exponents).into_iter();
        let missing = missing.map(|it| format!("a size of {it} costs nothing: it was not counted"));
        let memory = self.memory.iter().flat_map(Memory::above);
        let long = self
            .longest
            .iter()
            .filter(|it| !calls::is_bounded(&it.call));
        let long = long.map(|it| {
            format!(
                "{} takes {} instructions in one call ({})",
                it.call.function, it.call.instructions, it.mode
            )
        });
        growth.chain(late).chain(missing).chain(memory).chain(long)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::scale::exponent::LastSteps;
    use crate::scale::memory::{Inner, Linux};

    fn report(exponent: f64, inner_kib: u64, map: u64) -> Report {
        let linux = Linux {
            total_kib: 1,
            available_kib: 1,
        };
        let inner = Inner {
            inner_kib,
            text_kib: 1,
            reserve_kib: inner_kib,
            reserve_free_kib: 1,
            linux,
        };
        Report {
            exponents: vec![Exponent {
                name: "map".into(),
                over: "pages",
                native: Some(9.0),
                modes: BTreeMap::from([("asid".into(), exponent)]),
                last_steps: Some(LastSteps {
                    native: vec![9.0],
                    modes: BTreeMap::from([("asid".into(), vec![exponent + 0.1])]),
                    at_most: vec![1.155],
                }),
            }],
            memory: vec![Memory {
                ram_kib: 1 << 20,
                native: linux,
                modes: BTreeMap::from([("asid".into(), inner)]),
            }],
            longest: vec![Longest {
                mode: "asid".into(),
                call: calls::Longest {
                    function: "map".into(),
                    instructions: map,
                },
            }],
            ..Report::default()
        }
    }

    #[test]
    fn each_limit_is_checked() {
        report(1.0, 19_000, 9_000).check().expect("all is well");
        let wrong = |report: Report| report.check().expect_err("a limit").to_string();
        let exponent = wrong(report(1.06, 19_000, 9_000));
        assert!(exponent.contains("map (asid): 1.060"), "{exponent}");
        let late = "the exponent is map (asid): 1.160, not 1.155";
        assert!(exponent.contains(late), "{exponent}");
        let memory = wrong(report(1.0, 40_000, 9_000));
        assert!(memory.contains("inner domain has 40000 KiB"), "{memory}");
        assert!(memory.contains("reserve has 40000 KiB"), "{memory}");
        let call = wrong(report(1.0, 19_000, 20_001));
        assert!(call.contains("map takes 20001"), "{call}");
    }

    #[test]
    fn the_file_has_plain_keys() {
        let value = serde_json::to_value(report(1.0, 19_000, 9_000)).expect("a document");
        assert_eq!(value["exponents"][0]["modes"]["asid"], 1.0);
        assert_eq!(value["memory"][0]["modes"]["asid"]["inner_kib"], 19_000);
        assert_eq!(value["longest"][0]["function"], "map");
        assert_eq!(value["longest"][0]["mode"], "asid");
    }
}
