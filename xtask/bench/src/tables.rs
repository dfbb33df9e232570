// SPDX-License-Identifier: MIT OR Apache-2.0
//! The documentation's tables, from what is recorded.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result};
use donjon_figures::format::number;
use donjon_figures::records::idc::Cost;
use donjon_figures::records::recorded::Recorded;
use donjon_generator::{generated, section};
use donjon_machine::paths;

use super::lmbench::published;

/// A part of a document.
struct Part {
    file: &'static str,
    name: &'static str,
    text: fn(&Recorded) -> Option<String>,
}

const PARTS: [Part; 5] = [
    Part {
        file: "README.md",
        name: "figures-idc",
        text: idc,
    },
    Part {
        file: "README.md",
        name: "figures-result",
        text: result,
    },
    Part {
        file: "docs/costs.md",
        name: "figures-idc",
        text: idc,
    },
    Part {
        file: "docs/costs.md",
        name: "figures-calls",
        text: calls,
    },
    Part {
        file: "docs/lmbench.md",
        name: "figures-lmbench",
        text: lmbench,
    },
];

/// Modes in the order of the columns.
const MODES: [&str; 3] = ["asid", "tlbi", "strict"];
/// Rows of LMBench that stand beside the published figures in the README.
const RESULT_ROWS: [&str; 8] = [
    "stat",
    "open/close",
    "signal catch",
    "pipe",
    "page fault",
    "fork+exit",
    "fork+exec",
    "mmap",
];

/// Writes the tables, or with `check` only compares them.
pub fn write(figures: &Recorded, check: bool) -> Result<()> {
    let mut files: BTreeMap<&'static str, String> = BTreeMap::new();
    for Part { file, name, text } in PARTS {
        let found = match files.remove(file) {
            Some(found) => found,
            None => fs::read_to_string(paths::in_root(file))
                .with_context(|| format!("reading {file}"))?,
        };
        let table = text(figures).with_context(|| format!("the recorded figures lack {name}"))?;
        files.insert(file, section::replace(&found, name, &table).context(file)?);
    }
    generated::write_or_check(
        files,
        check,
        "docs/figures.json",
        "cargo xtask bench --record",
    )
}

fn result(figures: &Recorded) -> Option<String> {
    let mut text = String::from(
        "| LMBench | Hilps, ASID | Hilps, TLBI | BULKHEAD | `asid` | `tlbi` | `strict` |\n\
         |---|---:|---:|---:|---:|---:|---:|\n",
    );
    let published = published::read().ok()?;
    for row in RESULT_ROWS {
        let [asid, ti, bulkhead] = published.cells(row);
        write!(text, "| {row} | {asid} | {ti} | {bulkhead} |").ok()?;
        for mode in MODES {
            let cell = figures.lmbench.rows.get(row)?.modes.get(mode)?;
            write!(text, " {:+.1} |", cell.overhead_percent).ok()?;
        }
        text.push('\n');
    }
    Some(text)
}

fn idc(figures: &Recorded) -> Option<String> {
    let mut text = String::from(
        "| operation | instructions | TCR writes | ISBs | TLB operations |\n|---|---:|---:|---:|---:|\n",
    );
    let idc = &figures.idc.figures;
    for mode in ["asid", "strict", "tlbi"] {
        let cost = idc.modes.get(mode)?;
        write!(text, "| null IDC, `{mode}` | {} |", count(cost.median)).ok()?;
        for it in [cost.tcr_writes?, cost.isb?, cost.tlb_ops?] {
            write!(text, " {it} |").ok()?;
        }
        text.push('\n');
    }
    let others: [(&Option<Cost>, &str); 4] = [
        (&idc.null_syscall, "null system call"),
        (&idc.null_syscall_native, "null system call without Donjon"),
        (&idc.function_call, "function call"),
        (&idc.firmware_call, "firmware call (PSCI version)"),
    ];
    for (cost, title) in others {
        let median = count(cost.as_ref()?.median);
        writeln!(text, "| {title} | {median} | | | |").ok()?;
    }
    Some(text)
}

fn calls(figures: &Recorded) -> Option<String> {
    let mut text = String::from(
        "| operation | calls | that fill | that empty | switches | instructions inside |\n\
         |---|---:|---:|---:|---:|---:|\n",
    );
    for it in &figures.calls.operations {
        write!(text, "| {} |", it.name).ok()?;
        for figure in [it.calls, it.maps, it.flushes, it.switches, it.instructions] {
            write!(text, " {} |", count(figure)).ok()?;
        }
        text.push('\n');
    }
    Some(text)
}

fn lmbench(figures: &Recorded) -> Option<String> {
    let lmbench = &figures.lmbench;
    let mut text = format!(
        "LMBench ({}), means of {} layouts, each with the stack at another place in its page.\n\n\
         | row | native | `asid` | `tlbi` | `strict` |\n|---|---:|---:|---:|---:|\n",
        lmbench.source, lmbench.layouts,
    );
    for (name, row) in &lmbench.rows {
        write!(text, "| {name} | {:.3} |", row.native).ok()?;
        for mode in MODES {
            let percent = row.modes.get(mode)?.overhead_percent;
            write!(text, " {percent:+.1} % |").ok()?;
        }
        text.push('\n');
    }
    Some(text)
}

/// A count, with commas between thousands.
fn count(figure: f64) -> String {
    number(figure, 0)
}
