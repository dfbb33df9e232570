// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks gate and vectors against every forged table geometry, in one call.
//!
//! The reader may be a [model](crate::machine) or a dump of a guest's memory. What counts as
//! harmless is found out here: the table block in any role, and every other table of the tree
//! in the one role (4 KiB granule, its level) that the tree gives it. Any other frame that a
//! forged walk takes for a table is the attacker's.

pub mod forged;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use donjon_core::range::Range;
use donjon_core::translation::address::{ENTRIES, Level, PhysicalAddress};
use donjon_core::translation::descriptor::Descriptor;

use forged::{
    Finding, Geometry, Granule, PhysicalMemory, Probe, TableRead, WalkResult, enumerate, walk,
};

/// The outer view: 4 KiB granule, 47 bits.
const OUTER: Geometry = Geometry {
    granule: Granule::Kib4,
    size_offset: donjon_abi::tcr::T1SZ_OUTER as u8,
    large_addresses: false,
    corruption: None,
};

/// Memory whose tables have been found.
struct Surveyed<'a, R> {
    reader: &'a R,
    block: Range,
    /// Frame to the level of the table in it; none where the tree uses it at two levels.
    roles: BTreeMap<u64, Option<Level>>,
}

impl<R: Fn(u64) -> Option<u64>> PhysicalMemory for Surveyed<'_, R> {
    fn read(&self, address: u64) -> Option<u64> {
        (self.reader)(address)
    }

    fn is_hostile(&self, read: TableRead) -> bool {
        let role = self.roles.get(&(read.address & !0xfff)).copied().flatten();
        let as_built = read.granule == Granule::Kib4
            && role.is_some_and(|level| i16::from(level.number()) == i16::from(read.level));
        !as_built && !self.block.contains(read.address)
    }
}

impl<R: Fn(u64) -> Option<u64>> Surveyed<'_, R> {
    /// Notes `table` and every table below it.
    fn note(&mut self, table: PhysicalAddress, level: Level) {
        let frame = table.as_u64();
        if let Some(known) = self.roles.get_mut(&frame) {
            if *known != Some(level) {
                *known = None;
            }
            return;
        }
        self.roles.insert(frame, Some(level));
        let Some(below) = level.next() else { return };
        for index in 0..ENTRIES as u64 {
            let raw = (self.reader)(frame + index * 8).unwrap_or(0);
            if let Descriptor::Table { next, .. } = Descriptor::decode(raw, level) {
                self.note(next, below);
            }
        }
    }
}

/// Where one address leads.
#[derive(Debug)]
pub struct ProbeReport {
    /// The address and what it is meant to show.
    pub probe: Probe,
    /// Every finding, in the order of TG1, T1SZ and DS.
    pub findings: Vec<Finding>,
}

/// Where every address leads.
#[derive(Debug)]
pub struct Report {
    /// One entry per address asked for.
    pub probes: Vec<ProbeReport>,
}

impl Report {
    /// Every finding with which the outer domain may execute what it likes, with its address.
    pub fn escapes(&self) -> impl Iterator<Item = (u64, &Finding)> {
        self.probes.iter().flat_map(|report| {
            let escapes = report.findings.iter().filter(|it| it.result.is_escape());
            escapes.map(|finding| (report.probe.address, finding))
        })
    }

    /// How many combinations were walked.
    pub fn combinations(&self) -> usize {
        self.probes.iter().map(|report| report.findings.len()).sum()
    }
}

impl fmt::Display for Report {
    /// One line per address and result, with the geometries that lead there.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for report in &self.probes {
            let mut results: BTreeMap<WalkResult, BTreeSet<String>> = BTreeMap::new();
            for finding in &report.findings {
                let geometry = finding.geometry.map_or("any".to_owned(), |it| {
                    let large = if it.large_addresses { "/52" } else { "" };
                    let base = it
                        .corruption
                        .map_or(String::new(), |bits| format!("^{bits:#x}"));
                    format!("{}/{}{large}{base}", it.granule, it.size_offset)
                });
                results.entry(finding.result).or_default().insert(geometry);
            }
            writeln!(f, "{:#x}:", report.probe.address)?;
            for (result, geometries) in results {
                let mark = if result.is_escape() { "ESCAPE " } else { "" };
                let geometries: Vec<_> = geometries.into_iter().collect();
                writeln!(f, "  {mark}{result:x?}: {}", geometries.join(" "))?;
            }
        }
        Ok(())
    }
}

/// Shows where each of `addresses` leads for every forged geometry of the tree at physical
/// address `root`. `block` is the table block: inner-owned, its contents as `reader` shows them.
///
/// # Errors
///
/// The first address that the outer view does not map executable in the first place.
pub fn check(
    reader: &impl Fn(u64) -> Option<u64>,
    root: u64,
    block: Range,
    addresses: &[u64],
) -> Result<Report, NotMapped> {
    let mut memory = Surveyed {
        reader,
        block,
        roles: BTreeMap::new(),
    };
    if let Some(root) = PhysicalAddress::new(root) {
        memory.note(root, Level::Zero);
    }
    let report = |&address: &u64| {
        // The outer view itself says what the address is meant to show.
        let unknown = Probe {
            address,
            expected: u64::MAX,
        };
        let WalkResult::Escape { address: expected } = walk(&memory, root, OUTER, unknown) else {
            return Err(NotMapped { address });
        };
        let probe = Probe { address, expected };
        let mut findings = Vec::new();
        enumerate(&memory, root, probe, |finding| findings.push(finding));
        Ok(ProbeReport { probe, findings })
    };
    let probes = addresses.iter().map(report).collect::<Result<_, _>>()?;
    Ok(Report { probes })
}

/// An address that the outer view does not map executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotMapped {
    /// The address.
    pub address: u64,
}

impl fmt::Display for NotMapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the outer view does not map {:#x} executable",
            self.address
        )
    }
}

impl std::error::Error for NotMapped {}
