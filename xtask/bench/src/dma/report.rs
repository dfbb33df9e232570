// SPDX-License-Identifier: MIT OR Apache-2.0
//! The figures of transfers, and what they may be.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context, Result, ensure};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use crate::samples::median;

/// Over the inner domain, whose SMMU is between.
pub const BEHIND: &str = "behind the SMMU";
/// Over the inner domain, on that machine without an SMMU.
pub const AROUND: &str = "without an SMMU";

/// The native kernel, which writes the USB controller's registers itself.
pub const NATIVE: &str = "native";
/// Over the inner domain, which writes them.
pub const CHECKED: &str = "checked registers";

/// Kinds of transfers, in the order of the table.
const KINDS: [&str; 6] = [
    "read-sequential",
    "read-random",
    "write-sequential",
    "write-random",
    "tcp-send",
    "tcp-receive",
];
/// Number of kinds that are of the disk. What TCP does depends on when the host's packets come.
const OF_DISK: usize = 4;
/// Percent that the SMMU may cost.
const LIMIT: f64 = 0.5;
/// Percent that reads in order from a disk behind USB may cost. 10 is the goal.
const USB_LIMIT: f64 = 50.0;

/// What was measured.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// Linux's release.
    pub linux: String,
    /// Medians of the instructions of 64 MiB, by kind of transfer and by machine.
    pub instructions: BTreeMap<String, BTreeMap<String, f64>>,
    /// The least and the most of these, by kind and machine.
    pub range: BTreeMap<String, BTreeMap<String, [f64; 2]>>,
    /// Medians of the instructions of 64 MiB by a disk behind USB, by kind and by kernel.
    pub usb: BTreeMap<String, BTreeMap<String, f64>>,
}

/// The figures of a kind of transfer that a guest printed.
fn samples(text: &str, kind: &str) -> Vec<f64> {
    text.lines()
        .filter_map(|it| it.strip_prefix("sample: ")?.strip_prefix(kind))
        .filter_map(|it| it.trim().parse().ok())
        .collect()
}

impl Report {
    /// Adds what the guest printed on a machine.
    pub fn add(&mut self, machine: &str, text: &str) -> Result<()> {
        for kind in KINDS {
            let samples = samples(text, kind);
            let middle = median(samples.iter().copied());
            let middle = middle.with_context(|| format!("no figure of {kind}:\n{text}"))?;
            let least = samples.iter().copied().fold(f64::INFINITY, f64::min);
            let most = samples.iter().copied().fold(0.0, f64::max);
            let row = self.instructions.entry(kind.into()).or_default();
            row.insert(machine.into(), middle);
            let row = self.range.entry(kind.into()).or_default();
            row.insert(machine.into(), [least, most]);
        }
        Ok(())
    }

    /// Adds what a guest with a disk behind USB printed.
    pub fn add_usb(&mut self, kernel: &str, text: &str) -> Result<()> {
        for kind in &KINDS[..OF_DISK] {
            let middle = median(samples(text, kind));
            let middle = middle.with_context(|| format!("no figure of {kind}:\n{text}"))?;
            let row = self.usb.entry((*kind).into()).or_default();
            row.insert(kernel.into(), middle);
        }
        Ok(())
    }

    /// Percent that a kind takes more by USB over the inner domain.
    fn more_by_usb(&self, kind: &str) -> f64 {
        let row = &self.usb[kind];
        (row[CHECKED] / row[NATIVE] - 1.0) * 100.0
    }

    /// Percent that a kind takes more on one machine than on another one.
    fn more(&self, kind: &str, one: &str, other: &str) -> f64 {
        let row = &self.instructions[kind];
        (row[one] / row[other] - 1.0) * 100.0
    }

    /// Fails if the SMMU costs more than it may. Of TCP the ranges count, not the medians.
    pub fn check(&self) -> Result<()> {
        for (index, kind) in KINDS.into_iter().enumerate() {
            let more = if index < OF_DISK {
                self.more(kind, BEHIND, AROUND)
            } else {
                let row = &self.range[kind];
                (row[BEHIND][0] / row[AROUND][1] - 1.0) * 100.0
            };
            ensure!(
                more <= LIMIT,
                "{kind} takes {more:+.2} % more behind the SMMU, and may take {LIMIT} %"
            );
        }
        let more = self.more_by_usb(KINDS[0]);
        ensure!(
            more <= USB_LIMIT,
            "{} by USB takes {more:+.2} % more, and may take {USB_LIMIT} %",
            KINDS[0]
        );
        Ok(())
    }

    /// The table of the disk behind USB.
    fn usb_table(&self) -> Table {
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        table.set_header(["64 MiB by USB", NATIVE, CHECKED, "difference"]);
        for kind in &KINDS[..OF_DISK] {
            let row = &self.usb[*kind];
            table.add_row([
                (*kind).to_owned(),
                format!("{:.0}", row[NATIVE]),
                format!("{:.0}", row[CHECKED]),
                format!("{:+.2} %", self.more_by_usb(kind)),
            ]);
        }
        right_aligned(table)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        table.set_header([
            "64 MiB",
            "without an SMMU",
            "behind the SMMU",
            "SMMU",
            "spread",
        ]);
        for kind in KINDS {
            let row = &self.instructions[kind];
            let spread = |machine: &str| {
                let [least, most] = self.range[kind][machine];
                (most / least - 1.0) * 100.0
            };
            table.add_row([
                kind.to_owned(),
                format!("{:.0}", row[AROUND]),
                format!("{:.0}", row[BEHIND]),
                format!("{:+.2} %", self.more(kind, BEHIND, AROUND)),
                format!("{:.2} %", spread(BEHIND).max(spread(AROUND))),
            ]);
        }
        let table = right_aligned(table);
        writeln!(
            f,
            "instructions of 1 CPU by QEMU's -icount, medians of 5; Linux {}, mode asid",
            self.linux
        )?;
        writeln!(f, "{table}\n")?;
        writeln!(f, "on the machine raspi3b, native and in mode asid")?;
        write!(f, "{}", self.usb_table())
    }
}

/// The table with all columns but the first one at the right.
fn right_aligned(mut table: Table) -> Table {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(disk: u64, network: [u64; 2]) -> String {
        let mut text = String::new();
        for (index, kind) in KINDS.iter().enumerate() {
            for of_network in network {
                let figure = if index < OF_DISK { disk } else { of_network };
                text.push_str(&format!("sample: {kind} {figure}\n"));
            }
        }
        text
    }

    #[test]
    fn half_a_percent_is_allowed() {
        for (disk, network, is_allowed) in [
            (1005, [1000, 1100], true),
            (1006, [1000, 1100], false),
            (1000, [1105, 1200], true),
            (1000, [1107, 1200], false),
        ] {
            let mut report = Report::default();
            report
                .add(AROUND, &said(1000, [1000, 1100]))
                .expect("figures");
            report.add(BEHIND, &said(disk, network)).expect("figures");
            for kernel in [NATIVE, CHECKED] {
                report.add_usb(kernel, &said(1, [1, 1])).expect("figures");
            }
            assert_eq!(report.check().is_ok(), is_allowed, "{report}");
        }
    }

    #[test]
    fn by_usb_half_as_much_again_is_allowed() {
        for (checked, is_allowed) in [(1500, true), (1501, false)] {
            let mut report = Report::default();
            for machine in [AROUND, BEHIND] {
                report.add(machine, &said(1, [1, 1])).expect("figures");
            }
            report
                .add_usb(NATIVE, &said(1000, [1, 1]))
                .expect("figures");
            report
                .add_usb(CHECKED, &said(checked, [1, 1]))
                .expect("figures");
            assert_eq!(report.check().is_ok(), is_allowed, "{report}");
        }
    }

    #[test]
    fn a_kind_without_a_figure_is_an_error() {
        let text = said(1, [1, 1]).replace("tcp-send", "tcp-sent");
        assert!(Report::default().add(BEHIND, &text).is_err());
    }
}
