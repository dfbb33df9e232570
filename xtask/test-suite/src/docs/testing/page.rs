// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table as Markdown.

use std::fmt::Write;

use donjon_attack::{Attack, Control};

use super::row::Row;

const HEAD: &str = "\n| id | rules | host tests | attacks (controls) | tests | seen by the auditor |\n\
                    |---|---|---|---|---|---|\n";

/// The table with these rows.
pub fn table(rows: &[Row<'_>]) -> String {
    let mut out = HEAD.to_owned();
    for row in rows {
        let entry = row.entry;
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            row.id,
            codes(&entry.rules),
            codes(&entry.host_tests),
            attacks(row),
            codes(&row.tests),
            entry.auditor,
        );
    }
    out.push('\n');
    out
}

fn attacks(row: &Row<'_>) -> String {
    match &row.entry.no_attack {
        Some(why) if row.attacks.is_empty() => format!("— {why}"),
        _ => {
            let all: Vec<_> = row
                .attacks
                .iter()
                .map(|(it, with)| attack(it, with))
                .collect();
            all.join(", ")
        }
    }
}

fn attack(attack: &Attack, controls: &[&Control]) -> String {
    let names: Vec<_> = controls.iter().map(|it| it.without.name()).collect();
    match names.is_empty() {
        true => format!("`{}`", attack.name),
        false => format!("`{}` ({})", attack.name, codes(&names)),
    }
}

fn codes(names: &[String]) -> String {
    let codes: Vec<_> = names.iter().map(|it| format!("`{it}`")).collect();
    codes.join(" ")
}
