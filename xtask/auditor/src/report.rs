// SPDX-License-Identifier: MIT OR Apache-2.0
//! The result of an audit.

use std::collections::BTreeMap;
use std::fmt;

/// Violations of one invariant that are printed; `--json` has all.
const PRINTED: usize = 12;

/// What cannot be seen at rest, from outside.
pub const UNSEEN: &str = "how CPUs start (I11, but for those that are off), the order of \
                          invalidations (I12) and how an instruction changes (I18) leave no \
                          trace in a machine that stands still; the attacks and the traces check \
                          them";

/// Something that must not be.
#[derive(Clone, Debug, Default)]
pub struct Violation {
    /// Which invariant, `I1` and so on.
    pub invariant: &'static str,
    /// Virtual address.
    pub va: Option<u64>,
    /// Physical address of the frame concerned.
    pub pa: Option<u64>,
    /// Level of the entry.
    pub level: Option<u8>,
    /// The entry.
    pub descriptor: Option<u64>,
    /// Whose frame it is.
    pub owner: String,
    /// What is wrong.
    pub text: String,
}

impl Violation {
    /// A violation that is about no mapping.
    pub fn plain(invariant: &'static str, owner: &str, text: String) -> Self {
        Self {
            invariant,
            owner: owner.to_owned(),
            text,
            ..Self::default()
        }
    }

    /// Whether it is the one that a violation injected at these addresses must lead to.
    pub fn same_place(&self, other: &Self) -> bool {
        (self.invariant, self.va, self.pa, self.level, &self.text)
            == (
                other.invariant,
                other.va,
                other.pa,
                other.level,
                &other.text,
            )
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.invariant, self.text)?;
        let mut part = |name: &str, value: Option<u64>| match value {
            Some(value) => write!(f, " {name} {value:#x}"),
            None => Ok(()),
        };
        part("VA", self.va)?;
        part("PA", self.pa)?;
        part("descriptor", self.descriptor)?;
        if let Some(level) = self.level {
            write!(f, " level {level}")?;
        }
        write!(f, " ({})", self.owner)
    }
}

/// What one audit found and how much it looked at.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Everything that is wrong.
    pub violations: Vec<Violation>,
    /// CPUs that run.
    pub cpus: usize,
    /// Number of these CPUs that were inside the inner domain.
    pub cpus_inside: usize,
    /// How many CPUs were in compartments.
    pub cpus_in_compartments: usize,
    /// Roots of user tables.
    pub user_roots: usize,
    /// Tables that walks reached.
    pub tables: usize,
    /// Valid leaf entries in them.
    pub leaves: usize,
    /// Frames of RAM by type.
    pub frames: BTreeMap<&'static str, u64>,
    /// Private frames that a compartment has. The others of the type are free.
    pub private_in_use: usize,
    /// Pages of the outer view that EL1 can execute.
    pub exec_pages: usize,
    /// Bytes of code scanned.
    pub code_bytes: u64,
    /// Combinations of forged table geometry and address.
    pub geometries: usize,
}

impl Report {
    /// Violations that `earlier` does not have.
    pub fn new_since(&self, earlier: &Self) -> Vec<&Violation> {
        let known = |it: &&Violation| !earlier.violations.iter().any(|old| old.same_place(it));
        self.violations.iter().filter(known).collect()
    }

    /// How many of each.
    pub fn by_invariant(&self) -> BTreeMap<&'static str, Vec<&Violation>> {
        let mut sorted: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for violation in &self.violations {
            sorted
                .entry(violation.invariant)
                .or_default()
                .push(violation);
        }
        sorted
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "  CPUs {} (inside the inner domain {}), user roots {}, tables {}, leaf entries {}",
            self.cpus, self.cpus_inside, self.user_roots, self.tables, self.leaves
        )?;
        let frames: Vec<_> = self
            .frames
            .iter()
            .map(|(class, count)| format!("{class} {count}"))
            .collect();
        writeln!(f, "  frames: {}", frames.join(", "))?;
        writeln!(
            f,
            "  executable pages {}, bytes of code scanned {}, forged geometries {}",
            self.exec_pages, self.code_bytes, self.geometries
        )?;
        for (invariant, violations) in self.by_invariant() {
            for violation in violations.iter().take(PRINTED) {
                writeln!(f, "  VIOLATION {violation}")?;
            }
            if violations.len() > PRINTED {
                let more = violations.len() - PRINTED;
                writeln!(f, "  VIOLATION {invariant}: {more} more like these")?;
            }
        }
        write!(f, "  {} violations", self.violations.len())
    }
}
