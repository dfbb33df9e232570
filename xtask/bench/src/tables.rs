// SPDX-License-Identifier: MIT OR Apache-2.0
//! The documentation's tables, from what is recorded.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result};
use donjon_generator::{generated, section};
use donjon_machine::paths;
use serde_json::Value;

use super::guard::Figures;
use super::lmbench::published;

/// A part of a document.
struct Part {
    file: &'static str,
    name: &'static str,
    text: fn(&Figures) -> Option<String>,
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
pub fn write(figures: &Figures, check: bool) -> Result<()> {
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

fn result(figures: &Figures) -> Option<String> {
    let mut text = String::from(
        "| LMBench | Hilps, ASID | Hilps, TLBI | BULKHEAD | `asid` | `tlbi` | `strict` |\n\
         |---|---:|---:|---:|---:|---:|---:|\n",
    );
    let published = published::read().ok()?;
    for row in RESULT_ROWS {
        let [asid, ti, bulkhead] = published.cells(row);
        write!(text, "| {row} | {asid} | {ti} | {bulkhead} |").ok()?;
        for mode in ["asid", "tlbi", "strict"] {
            let percent = figures.lmbench["rows"][row][mode]["overhead_percent"].as_f64()?;
            write!(text, " {percent:+.1} |").ok()?;
        }
        text.push('\n');
    }
    Some(text)
}

fn idc(figures: &Figures) -> Option<String> {
    let mut text = String::from(
        "| operation | instructions | TCR writes | ISBs | TLB operations |\n|---|---:|---:|---:|---:|\n",
    );
    for mode in ["asid", "strict", "tlbi"] {
        let value = &figures.idc["modes"][mode];
        writeln!(
            text,
            "| null IDC, `{mode}` | {} | {} | {} | {} |",
            count(&value["median"])?,
            count(&value["tcr_writes"])?,
            count(&value["isb"])?,
            count(&value["tlb_ops"])?
        )
        .ok()?;
    }
    let others = [
        ("null_syscall", "null system call"),
        ("null_syscall_native", "null system call without Donjon"),
        ("function_call", "function call"),
        ("firmware_call", "firmware call (PSCI version)"),
    ];
    for (name, title) in others {
        let median = count(&figures.idc[name]["median"])?;
        writeln!(text, "| {title} | {median} | | | |").ok()?;
    }
    Some(text)
}

fn calls(figures: &Figures) -> Option<String> {
    let mut text = String::from(
        "| operation | calls | that fill | that empty | switches | instructions inside |\n\
         |---|---:|---:|---:|---:|---:|\n",
    );
    for operation in figures.calls["operations"].as_array()? {
        write!(text, "| {} |", operation["name"].as_str()?).ok()?;
        for column in ["calls", "maps", "flushes", "switches", "instructions"] {
            write!(text, " {} |", count(&operation[column])?).ok()?;
        }
        text.push('\n');
    }
    Some(text)
}

fn lmbench(figures: &Figures) -> Option<String> {
    let mut text = format!(
        "LMBench ({}), means of {} layouts, each with the stack at another place in its page.\n\n\
         | row | native | `asid` | `tlbi` | `strict` |\n|---|---:|---:|---:|---:|\n",
        figures.lmbench["source"].as_str()?,
        figures.lmbench["layouts"],
    );
    for (row, value) in figures.lmbench["rows"].as_object()? {
        write!(text, "| {row} | {:.3} |", value["native"].as_f64()?).ok()?;
        for mode in ["asid", "tlbi", "strict"] {
            let percent = value[mode]["overhead_percent"].as_f64()?;
            write!(text, " {percent:+.1} % |").ok()?;
        }
        text.push('\n');
    }
    Some(text)
}

/// A count, with commas between thousands.
fn count(value: &Value) -> Option<String> {
    let digits = format!("{:.0}", value.as_f64()?);
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn thousands_are_told_apart() {
        let words = [7.0, 999.6, 1234.0, 1_234_567.0].map(|it| count(&json!(it)));
        let expected = ["7", "1,000", "1,234", "1,234,567"];
        assert_eq!(words.map(Option::unwrap_or_default), expected);
    }
}
