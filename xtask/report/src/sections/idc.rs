// SPDX-License-Identifier: MIT OR Apache-2.0
//! The null inter-domain call.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Deserialize;

use super::{Chapter, headline, modes};
use crate::document::{Block, Figure, Section, Table};
use crate::plot::{Bar, Bars, Chart, Colour, Group};
use donjon_figures::format::number;
use donjon_figures::parts::Part;

/// Document of `bench idc --json`.
#[derive(Deserialize)]
pub struct Idc {
    /// What the figures count.
    pub unit: String,
    samples: u64,
    /// The null call by mode.
    pub modes: BTreeMap<String, Cost>,
    null_syscall: Option<Cost>,
    null_syscall_native: Option<Cost>,
    function_call: Option<Cost>,
    firmware_call: Option<Cost>,
    cpu: Option<String>,
    linux: Option<String>,
}

/// What one operation costs.
#[derive(Deserialize)]
pub struct Cost {
    /// Median of the samples.
    pub median: f64,
    stddev: f64,
    /// Writes of TCR_EL1.
    pub tcr_writes: Option<u64>,
    /// Instruction barriers.
    pub isb: Option<u64>,
    /// Invalidations of the TLB.
    pub tlb_ops: Option<u64>,
}

pub(super) fn chapter(idc: &Idc) -> Result<Chapter> {
    let mut section = Section::new(Part::Idc.name(), Part::Idc.title());
    section.text(format!(
        "From the caller's branch to the instruction after it, registers cleared on the way out; \
         median of {} samples after warm-up. CPU {}, Linux {}.",
        idc.samples,
        idc.cpu.as_deref().unwrap_or("not named"),
        idc.linux.as_deref().unwrap_or("not named")
    ));
    let unit = idc.unit.as_str();
    let header = [
        "operation",
        unit,
        "standard deviation",
        "TCR_EL1 writes",
        "ISBs",
        "TLB operations",
    ];
    let mut table = Table::new("The null call beside a system call", &header);
    let mut groups = Vec::new();
    let mut series = Vec::new();
    let mut add = |name: String, cost: &Cost, colour: Colour| {
        let whole = |it: Option<u64>| it.map_or(String::new(), |it| it.to_string());
        let figure = number(cost.median, 0);
        table.row(vec![
            name.clone(),
            figure.clone(),
            number(cost.stddev, 2),
            whole(cost.tcr_writes),
            whole(cost.isb),
            whole(cost.tlb_ops),
        ]);
        let bar = Bar {
            series: series.len(),
            value: cost.median,
            deviation: cost.stddev,
            text: figure,
        };
        series.push((colour, name.clone()));
        groups.push(Group {
            name,
            bars: vec![bar],
            mark: None,
        });
    };
    for mode in modes(idc.modes.keys()) {
        add(
            format!("null IDC, {mode}"),
            &idc.modes[&mode],
            Colour::of_mode(&mode),
        );
    }
    let others = [
        ("null system call", &idc.null_syscall),
        ("null system call, native kernel", &idc.null_syscall_native),
        ("function call", &idc.function_call),
        ("firmware call", &idc.firmware_call),
    ];
    for (name, cost) in others {
        if let Some(cost) = cost {
            add(name.to_owned(), cost, Colour::Native);
        }
    }
    let alternative: Vec<String> = table
        .rows
        .iter()
        .map(|it| format!("{} {}", it[0], it[1]))
        .collect();
    section.add(Block::Figure(Figure {
        caption: format!(
            "Null inter-domain call in each mode, and what it compares with ({unit})."
        ),
        alternative: format!("Bars, in {unit}: {}.", alternative.join("; ")),
        chart: Chart::Bars(Bars {
            unit: unit.to_owned(),
            series,
            groups,
            ..Bars::default()
        }),
    }));
    section.add(Block::Table(table.without_empty_columns()));
    if idc.firmware_call.is_some() {
        section.text(
            "A firmware call counts as one instruction because QEMU itself answers it. It is no \
             measure of what such a call costs.",
        );
    }
    let mut chapter = Chapter {
        section,
        headline: Vec::new(),
    };
    if let (Some(call), Some(native)) = (idc.modes.get("asid"), &idc.null_syscall_native) {
        let (call, native) = (number(call.median, 0), number(native.median, 0));
        chapter.headline.push(headline(
            call,
            format!("{unit} for a null call (`asid`); a native null system call: {native}"),
        ));
    }
    Ok(chapter)
}
