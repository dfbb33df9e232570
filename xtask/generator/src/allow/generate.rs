// SPDX-License-Identifier: MIT OR Apache-2.0
//! The list as Rust, for the scanner.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::Result;

use super::list::{List, entries};

const HEAD: &str = "\
// SPDX-License-Identifier: MIT OR Apache-2.0
// Generated from kernel-patch/allow-list.toml by `cargo xtask allow-list`; do not edit.
";

/// `allow_list.rs`: what is allowed.
pub fn allowed(list: &List) -> Result<String> {
    let mut rows: BTreeMap<u16, u128> = BTreeMap::new();
    let mut exceptions = Vec::new();
    for entry in entries(&list.allowed) {
        let set = entry.set()?;
        exceptions.extend(set.exceptions);
        for number in set.encodings {
            *rows.entry(number >> 7).or_default() |= 1 << (number & 0x7f);
        }
    }
    exceptions.sort_unstable();
    let exceptions: Vec<String> = exceptions.iter().map(|it| format!("{it:#010b}")).collect();
    let mut out = String::from(HEAD);
    let _ = write!(
        out,
        "\
//! What is allowed.

/// Instructions that generate exceptions: bits 23 to 21 and 4 to 0.
pub(super) static EXCEPTIONS: [u8; {}] = [{}];

/// The others by (op0, op1, CRn); bit 8 * CRm + op2 of the second number is set if one is allowed.
pub(super) const ROWS: [(u16, u128); {}] = [
",
        exceptions.len(),
        exceptions.join(", "),
        rows.len()
    );
    for (row, bits) in rows {
        let (op0, op1, crn) = (row >> 7, row >> 4 & 7, row & 15);
        let hexadecimal: Vec<String> = (0..8)
            .rev()
            .map(|it| format!("{:04x}", bits >> (16 * it) & 0xffff))
            .collect();
        let _ = writeln!(
            out,
            "    ({row:#05x}, 0x{}), // S{op0}_{op1}_C{crn}",
            hexadecimal.join("_")
        );
    }
    out.push_str("];\n");
    Ok(out)
}

/// `names.rs`: what is refused by name. Where two entries overlap, the first names it.
pub fn names(list: &List) -> Result<String> {
    let mut names: Vec<Option<&str>> = vec![None; 1 << 16];
    for entry in entries(&list.refused) {
        for number in entry.set()?.encodings {
            names[usize::from(number)].get_or_insert(&entry.name);
        }
    }
    for entry in entries(&list.allowed) {
        for number in entry.set()?.encodings {
            names[usize::from(number)] = None;
        }
    }
    let mut runs: Vec<(usize, usize, &str)> = Vec::new();
    for (number, name) in names.iter().enumerate() {
        let Some(name) = *name else { continue };
        match runs.last_mut() {
            Some((_, last, same)) if *last + 1 == number && *same == name => *last = number,
            _ => runs.push((number, number, name)),
        }
    }
    let mut out = String::from(HEAD);
    let _ = write!(
        out,
        "\
//! Names for what is refused.

/// First and last number of an encoding, sorted.
#[rustfmt::skip]
pub(super) static NAMES: [(u16, u16, &str); {}] = [
",
        runs.len()
    );
    for (first, last, name) in runs {
        let _ = writeln!(out, "    ({first:#06x}, {last:#06x}, \"{name}\"),");
    }
    out.push_str("];\n");
    Ok(out)
}
