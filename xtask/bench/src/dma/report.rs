// SPDX-License-Identifier: MIT OR Apache-2.0
//! The figures of transfers, and what they may be.

use anyhow::{Context, Result, ensure};
pub use donjon_figures::records::NATIVE;
use donjon_figures::records::dma::Dma;

use crate::Record;
use crate::samples::median;
use crate::table::{more, percent, rounded, table};

/// Over the inner domain, whose SMMU is between.
pub const BEHIND: &str = "behind the SMMU";
/// Over the inner domain, on that machine without an SMMU.
pub const AROUND: &str = "without an SMMU";
/// Over the inner domain, which writes the registers of the controller.
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

/// The figures of a kind of transfer that a guest printed.
fn samples(text: &str, kind: &str) -> Vec<f64> {
    text.lines()
        .filter_map(|it| it.strip_prefix("sample: ")?.strip_prefix(kind))
        .filter_map(|it| it.trim().parse().ok())
        .collect()
}

/// Adds what the guest printed on a machine.
pub fn add(record: &mut Dma, machine: &str, text: &str) -> Result<()> {
    for kind in KINDS {
        let samples = samples(text, kind);
        let middle = median(samples.iter().copied());
        let middle = middle.with_context(|| format!("no figure of {kind}:\n{text}"))?;
        let least = samples.iter().copied().fold(f64::INFINITY, f64::min);
        let most = samples.iter().copied().fold(0.0, f64::max);
        let row = record.instructions.entry(kind.into()).or_default();
        row.insert(machine.into(), middle);
        let row = record.range.entry(kind.into()).or_default();
        row.insert(machine.into(), [least, most]);
    }
    Ok(())
}

/// Adds what a guest with a disk behind USB printed.
pub fn add_usb(record: &mut Dma, kernel: &str, text: &str) -> Result<()> {
    for kind in &KINDS[..OF_DISK] {
        let middle = median(samples(text, kind));
        let middle = middle.with_context(|| format!("no figure of {kind}:\n{text}"))?;
        let row = record.usb.entry((*kind).into()).or_default();
        row.insert(kernel.into(), middle);
    }
    Ok(())
}

impl Record for Dma {
    fn text(&self) -> String {
        let around = KINDS.map(|kind| {
            let row = &self.instructions[kind];
            let spread = |machine: &str| {
                let [least, most] = self.range[kind][machine];
                percent(most, least)
            };
            vec![
                kind.to_owned(),
                rounded(row[AROUND], 0),
                rounded(row[BEHIND], 0),
                more(row[BEHIND], row[AROUND]),
                format!("{:.2} %", spread(BEHIND).max(spread(AROUND))),
            ]
        });
        let usb = KINDS[..OF_DISK].iter().map(|kind| {
            let row = &self.usb[*kind];
            vec![
                (*kind).to_owned(),
                rounded(row[NATIVE], 0),
                rounded(row[CHECKED], 0),
                more(row[CHECKED], row[NATIVE]),
            ]
        });
        let header = ["64 MiB", AROUND, BEHIND, "SMMU", "spread"];
        let usb_header = ["64 MiB by USB", NATIVE, CHECKED, "difference"];
        format!(
            "instructions of 1 CPU by QEMU's -icount, medians of 5; Linux {}, mode asid\n{}\n\n\
             on the machine raspi3b, native and in mode asid\n{}",
            self.linux,
            table(1, header, around),
            table(1, usb_header, usb)
        )
    }

    /// Fails if the SMMU costs more than it may. Of TCP the ranges count, not the medians.
    fn check(&self) -> Result<()> {
        for (index, kind) in KINDS.into_iter().enumerate() {
            let more = if index < OF_DISK {
                let row = &self.instructions[kind];
                percent(row[BEHIND], row[AROUND])
            } else {
                let row = &self.range[kind];
                percent(row[BEHIND][0], row[AROUND][1])
            };
            ensure!(
                more <= LIMIT,
                "{kind} takes {more:+.2} % more behind the SMMU, and may take {LIMIT} %"
            );
        }
        let row = &self.usb[KINDS[0]];
        let more = percent(row[CHECKED], row[NATIVE]);
        ensure!(
            more <= USB_LIMIT,
            "{} by USB takes {more:+.2} % more, and may take {USB_LIMIT} %",
            KINDS[0]
        );
        Ok(())
    }
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

    /// Figures around the SMMU and behind it, and by USB natively and with checks.
    fn record(behind: &str, checked: u64) -> Dma {
        let mut record = Dma::default();
        let usual = said(1000, [1000, 1100]);
        add(&mut record, AROUND, &usual).expect("figures");
        add(&mut record, BEHIND, behind).expect("figures");
        add_usb(&mut record, NATIVE, &usual).expect("figures");
        add_usb(&mut record, CHECKED, &said(checked, [1, 1])).expect("figures");
        record
    }

    #[test]
    fn half_a_percent_is_allowed() {
        for (disk, network, is_allowed) in [
            (1005, [1000, 1100], true),
            (1006, [1000, 1100], false),
            (1000, [1105, 1200], true),
            (1000, [1107, 1200], false),
        ] {
            let record = record(&said(disk, network), 1000);
            assert_eq!(record.check().is_ok(), is_allowed, "{}", record.text());
        }
    }

    #[test]
    fn by_usb_half_as_much_again_is_allowed() {
        for (checked, is_allowed) in [(1500, true), (1501, false)] {
            let record = record(&said(1000, [1000, 1100]), checked);
            assert_eq!(record.check().is_ok(), is_allowed, "{}", record.text());
        }
    }

    #[test]
    fn a_kind_without_a_figure_is_an_error() {
        let text = said(1, [1, 1]).replace("tcp-send", "tcp-sent");
        assert!(add(&mut Dma::default(), BEHIND, &text).is_err());
    }
}
