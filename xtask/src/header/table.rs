// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of calls in the documentation.

use std::fmt::Write;

use donjon_abi::catalogue::{CALLS, CONSTANTS, COUNTERS, ERRORS, INFORMATION};

/// The generated part of `docs/idc.md`.
pub fn calls() -> String {
    let mut out = String::new();
    out.push_str("| x0 | function | x1 … | value in x1 | errors | what it does |\n");
    out.push_str("|---:|---|---|---|---|---|\n");
    for call in &CALLS {
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "| {} | `{}` | {} | {} | {} | {} |",
            call.function as u64,
            call.name,
            or_dash(&call.arguments.join(", ")),
            call.value,
            or_dash(&code(call.errors)),
            call.about,
        );
    }
    out.push_str("\n| x0 afterwards | name | meaning |\n|---:|---|---|\n| 0 | | done |\n");
    for (name, error, about) in &ERRORS {
        let _ = writeln!(out, "| {} | `{name}` | {about} |", *error as i64);
    }
    let counters: Vec<_> = COUNTERS
        .iter()
        .map(|(name, it)| (*name, *it as u64))
        .collect();
    numbered(&mut out, "`STATISTICS` counter", &counters);
    let facts: Vec<_> = INFORMATION
        .iter()
        .map(|(name, it)| (*name, *it as u64))
        .collect();
    numbered(&mut out, "`INFORMATION` about", &facts);
    out.push_str("\n| constant | value | meaning |\n|---|---:|---|\n");
    for constant in &CONSTANTS {
        let _ = writeln!(
            out,
            "| `{}` | `{:#x}` | {} |",
            constant.name, constant.value, constant.about
        );
    }
    out
}

fn numbered(out: &mut String, title: &str, rows: &[(&str, u64)]) {
    let _ = write!(out, "\n| number | {title} |\n|---:|---|\n");
    for (name, number) in rows {
        let _ = writeln!(out, "| {number} | `{name}` |");
    }
}

fn or_dash(text: &str) -> &str {
    if text.is_empty() { "–" } else { text }
}

fn code(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
