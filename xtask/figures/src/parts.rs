// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parts of the report: what each is measured by.

/// One measurement.
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
    /// Attacks and their controls.
    Attacks,
    /// The auditor's findings.
    Audit,
    /// The kernel's own selftests.
    Kselftests,
}

impl Part {
    /// All, in the order of the report.
    pub const ALL: [Self; 10] = [
        Self::Idc,
        Self::Lmbench,
        Self::Calls,
        Self::Programs,
        Self::Scale,
        Self::Stress,
        Self::Compartments,
        Self::Attacks,
        Self::Audit,
        Self::Kselftests,
    ];

    /// Name of the section and of its file, also behind `--run`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idc => "idc",
            Self::Lmbench => "lmbench",
            Self::Calls => "calls",
            Self::Programs => "programs",
            Self::Scale => "scale",
            Self::Stress => "stress",
            Self::Compartments => "compartments",
            Self::Attacks => "attacks",
            Self::Audit => "audit",
            Self::Kselftests => "kselftests",
        }
    }

    /// What it is, in a few words.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Idc => "Null inter-domain call",
            Self::Lmbench => "LMBench",
            Self::Calls => "Calls of Linux's operations",
            Self::Programs => "Programs",
            Self::Scale => "Scale",
            Self::Stress => "Stress",
            Self::Compartments => "Compartments, inside and outside",
            Self::Attacks => "Attacks",
            Self::Audit => "Audit",
            Self::Kselftests => "The kernel's selftests",
        }
    }

    /// The subcommand.
    pub const fn subcommand(self) -> &'static [&'static str] {
        match self {
            Self::Idc => &["bench", "idc"],
            Self::Lmbench => &["bench", "lmbench"],
            Self::Calls => &["bench", "calls"],
            Self::Programs => &["bench", "programs"],
            Self::Scale => &["bench", "scale"],
            Self::Stress => &["bench", "stress"],
            Self::Compartments => &["bench", "compartments"],
            Self::Attacks => &["attack"],
            Self::Audit => &["audit"],
            Self::Kselftests => &["kselftest"],
        }
    }

    /// What it is told besides. The machine is named, so that the report can say it.
    pub const fn options(self) -> &'static [&'static str] {
        match self {
            Self::Idc | Self::Lmbench | Self::Calls => {
                &["--machine", "virt", "--cpu", "cortex-a57"]
            }
            Self::Programs | Self::Scale => &[],
            // By itself the search takes an hour.
            Self::Compartments => &["--seconds", "60"],
            Self::Stress => &["--cpus", "2"],
            Self::Attacks => &["--machine", "virt"],
            Self::Audit => &[
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
            Self::Kselftests => &["--cpu", "cortex-a57", "--cpus", "4"],
        }
    }

    /// The machine in words.
    pub const fn machine(self) -> &'static str {
        match self {
            Self::Idc | Self::Lmbench | Self::Calls => "virt, cortex-a57, 1 CPU, -icount shift=0",
            Self::Programs => "virt, cortex-a57, 1 CPU, -icount shift=0; stress-ng: 2 and 4 CPUs",
            Self::Scale => "virt, cortex-a57, 1 CPU, -icount shift=0; by CPUs: up to 8",
            Self::Stress => "virt, cortex-a57, 2 CPUs; 64 MiB: 1 CPU, -icount shift=0",
            Self::Compartments => {
                "virt, cortex-a57, 1 CPU, 4 GiB, -icount shift=0; trust and libraries: 2 CPUs"
            }
            Self::Attacks => "virt, 2 CPUs; alone: 1 CPU",
            Self::Audit | Self::Kselftests => "virt, cortex-a57, 4 CPUs",
        }
    }

    /// The command line that measures it, for people.
    pub fn command(self) -> String {
        let words = self.subcommand().iter().chain(self.options());
        let words: Vec<&str> = words.copied().collect();
        format!("cargo xtask {} --json FILE", words.join(" "))
    }

    /// Whether it takes minutes, and not an hour.
    pub const fn is_quick(self) -> bool {
        matches!(self, Self::Idc | Self::Audit)
    }

    /// Whether other work on the host changes its figures, or some of them.
    pub const fn is_wall_time(self) -> bool {
        matches!(self, Self::Stress | Self::Programs | Self::Scale)
    }

    /// Where docs/figures.json has it.
    pub const fn recorded_as(self) -> Option<&'static str> {
        match self {
            Self::Idc => Some("idc"),
            Self::Lmbench => Some("lmbench"),
            Self::Calls => Some("calls"),
            _ => None,
        }
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
        assert_eq!((names.len(), commands.len()), (10, 10));
        assert_eq!(
            Part::Idc.command(),
            "cargo xtask bench idc --machine virt --cpu cortex-a57 --json FILE"
        );
    }
}
