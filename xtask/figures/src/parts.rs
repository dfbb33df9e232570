// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parts of the report: what each is measured by, as one table.

use anyhow::Result;
use serde_json::Value;

use crate::counts::{self, Count};
use crate::records::{
    attacks, audit, calls, checked, compartments, flow, idc, kselftests, lmbench, programs, scale,
    stress,
};

/// One measurement: names a row of [`PARTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The null inter-domain call.
    Idc,
    /// LMBench.
    Lmbench,
    /// Calls by operation, and the longest.
    Calls,
    /// Real programs.
    Programs,
    /// Cost as the work grows.
    Scale,
    /// Wall time of a fixed amount of work.
    Stress,
    /// Compartments against processes.
    Compartments,
    /// Flow attestation.
    Flow,
    /// Attacks and their controls.
    Attacks,
    /// The auditor's findings.
    Audit,
    /// The kernel's own selftests.
    Kselftests,
}

/// What is known of a part before it is measured.
#[derive(Debug)]
pub struct Row {
    /// The part.
    pub part: Part,
    /// Name of the section and of its file, also behind `--run`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// The subcommand that measures it.
    pub subcommand: &'static [&'static str],
    /// What the subcommand is told besides. The machine is named, so that the report can say it.
    pub options: &'static [&'static str],
    /// The machine in words.
    pub machine: &'static str,
    /// What the figures have to be, if the documentation says so.
    pub goal: Option<&'static str>,
    /// Whether it takes minutes, and not an hour.
    pub is_quick: bool,
    /// Whether other work on the host changes its figures, or some of them.
    pub is_wall_time: bool,
    /// Where docs/figures.json has it.
    pub recorded_as: Option<&'static str>,
    /// Reads its document into its record, and gives the record as a document: whole, in its order,
    /// with defaults. An error if the document has another form.
    pub check: fn(&Value) -> Result<Value>,
    /// Lists the instruction counts of its document, which are the same in two runs or nearly so;
    /// nothing if it counts none.
    pub counts: Option<fn(&Value) -> Vec<Count>>,
}

/// A part of which nothing is said yet.
const PLAIN: Row = Row {
    part: Part::Idc,
    name: "",
    title: "",
    subcommand: &[],
    options: &[],
    machine: "",
    goal: None,
    is_quick: false,
    is_wall_time: false,
    recorded_as: None,
    check: checked::<idc::Idc>,
    counts: None,
};

/// The machine whose instructions are counted.
const ON_ONE_CPU: &[&str] = &["--machine", "virt", "--cpu", "cortex-a57"];
const ONE_CPU: &str = "virt, cortex-a57, 1 CPU, -icount shift=0";

/// All parts, in the order of the report.
pub const PARTS: &[Row; 11] = &[
    Row {
        part: Part::Idc,
        check: checked::<idc::Idc>,
        name: "idc",
        counts: Some(counts::idc),
        title: "Null inter-domain call",
        subcommand: &["bench", "idc"],
        options: ON_ONE_CPU,
        machine: ONE_CPU,
        goal: Some("at most 2 % more than what is recorded"),
        is_quick: true,
        recorded_as: Some("idc"),
        ..PLAIN
    },
    Row {
        part: Part::Lmbench,
        check: checked::<lmbench::Lmbench>,
        name: "lmbench",
        counts: Some(counts::lmbench),
        title: "LMBench",
        subcommand: &["bench", "lmbench"],
        options: ON_ONE_CPU,
        machine: ONE_CPU,
        recorded_as: Some("lmbench"),
        ..PLAIN
    },
    Row {
        part: Part::Calls,
        check: checked::<calls::Calls>,
        name: "calls",
        counts: Some(counts::calls),
        title: "Calls of Linux's operations",
        subcommand: &["bench", "calls"],
        options: ON_ONE_CPU,
        machine: ONE_CPU,
        goal: Some("at most 6 % more instructions inside than what is recorded"),
        recorded_as: Some("calls"),
        ..PLAIN
    },
    Row {
        part: Part::Programs,
        check: checked::<programs::Programs>,
        name: "programs",
        counts: Some(counts::programs),
        title: "Programs",
        subcommand: &["bench", "programs"],
        machine: "virt, cortex-a57, 1 CPU, -icount shift=0; stress-ng: 2 and 4 CPUs",
        goal: Some("at most 1 % where a program computes or serves, 4 % where it starts processes"),
        is_wall_time: true,
        ..PLAIN
    },
    Row {
        part: Part::Scale,
        check: checked::<scale::Scale>,
        name: "scale",
        counts: Some(counts::scale),
        title: "Scale",
        subcommand: &["bench", "scale"],
        machine: "virt, cortex-a57, 1 CPU, -icount shift=0; by CPUs: up to 8",
        goal: Some("exponents of at most 1.05, or 0.05 more than the native kernel's"),
        is_wall_time: true,
        ..PLAIN
    },
    Row {
        part: Part::Stress,
        check: checked::<stress::Stress>,
        name: "stress",
        title: "Stress",
        subcommand: &["bench", "stress"],
        options: &["--cpus", "2"],
        machine: "virt, cortex-a57, 2 CPUs; 64 MiB: 1 CPU, -icount shift=0",
        is_wall_time: true,
        ..PLAIN
    },
    Row {
        part: Part::Compartments,
        check: checked::<compartments::Compartments>,
        name: "compartments",
        counts: Some(counts::compartments),
        title: "Compartments, inside and outside",
        subcommand: &["bench", "compartments"],
        // By itself the search takes an hour.
        options: &["--seconds", "60"],
        machine: "virt, cortex-a57, 1 CPU, 4 GiB, -icount shift=0; trust and libraries: 2 CPUs",
        goal: Some("each experiment has its own"),
        ..PLAIN
    },
    Row {
        part: Part::Flow,
        check: checked::<flow::Flow>,
        name: "flow",
        title: "Flow attestation",
        subcommand: &["bench", "flow"],
        machine: "virt, cortex-a57, 1 CPU, 1 GiB, -icount shift=0",
        goal: Some("the most that each step may add stands beside it"),
        counts: Some(counts::flow),
        ..PLAIN
    },
    Row {
        part: Part::Attacks,
        check: checked::<Vec<attacks::Attack>>,
        name: "attacks",
        title: "Attacks",
        subcommand: &["attack"],
        options: &["--machine", "virt"],
        machine: "virt, 2 CPUs; alone: 1 CPU",
        goal: Some("each attack fails, and each control succeeds"),
        ..PLAIN
    },
    Row {
        part: Part::Audit,
        check: checked::<audit::Audit>,
        name: "audit",
        title: "Audit",
        subcommand: &["audit"],
        options: &[
            "--machine",
            "virt",
            "--cpu",
            "cortex-a57",
            "--cpus",
            "4",
            "--at",
            "boot",
            "load",
        ],
        machine: "virt, cortex-a57, 4 CPUs",
        goal: Some("no finding"),
        is_quick: true,
        ..PLAIN
    },
    Row {
        part: Part::Kselftests,
        check: checked::<kselftests::Kselftests>,
        name: "kselftests",
        title: "The kernel's selftests",
        subcommand: &["kselftest"],
        options: &["--cpu", "cortex-a57", "--cpus", "4"],
        machine: "virt, cortex-a57, 4 CPUs",
        goal: Some("no result is worse than that of the native kernel"),
        ..PLAIN
    },
];

impl Part {
    /// All parts, in the order of the report.
    pub const ALL: [Self; PARTS.len()] = {
        let mut all = [Self::Idc; PARTS.len()];
        let mut number = 0;
        while number < all.len() {
            all[number] = PARTS[number].part;
            assert!(
                all[number] as usize == number,
                "a part's place in the table is that of its name"
            );
            number += 1;
        }
        all
    };

    /// Gives what is known of the part.
    pub const fn row(self) -> &'static Row {
        &PARTS[self as usize]
    }

    /// Names the section and its file; the word is also behind `--run`.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Says what the part is, in a few words.
    pub const fn title(self) -> &'static str {
        self.row().title
    }

    /// Writes the command line that measures the part, for people.
    pub fn command(self) -> String {
        let words = [self.row().subcommand, self.row().options].concat();
        format!("cargo xtask {} --json FILE", words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_commands_are_unlike() {
        let mut names: Vec<&str> = Part::ALL.iter().map(|it| it.name()).collect();
        let mut commands: Vec<String> = Part::ALL.iter().map(|it| it.command()).collect();
        names.sort_unstable();
        names.dedup();
        commands.sort_unstable();
        commands.dedup();
        assert_eq!((names.len(), commands.len()), (PARTS.len(), PARTS.len()));
        assert_eq!(
            Part::Idc.command(),
            "cargo xtask bench idc --machine virt --cpu cortex-a57 --json FILE"
        );
    }
}
