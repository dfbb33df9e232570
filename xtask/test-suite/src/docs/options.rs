// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tables of `docs/kernel-options.md` against the header that refuses options.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result, ensure};
use donjon_machine::paths;

use super::none;
use super::page::Page;

const PAGE: &str = "docs/kernel-options.md";
const HEADER: &str = "kernel-patch/files/arch/arm64/include/asm/donjon_conflicts.h";
/// Begins the reason in the header.
const MESSAGE: &str = "#error \"CONFIG_DONJON needs CONFIG_";

/// Fails unless the page lists the options of the header, and no others.
pub fn check() -> Result<()> {
    let text = fs::read_to_string(paths::in_root(HEADER)).context(HEADER)?;
    let in_header = options(&text);
    ensure!(
        !in_header.is_empty(),
        "{HEADER}: no lines begin with {MESSAGE}"
    );
    let page = Page::open(PAGE)?;
    let mut in_page = BTreeSet::new();
    for table in &page.tables {
        let option = table.column("option")?;
        in_page.extend(table.rows.iter().flat_map(|it| it[option].code.clone()));
    }
    none(&complaints(&in_header, &in_page))
}

fn options(header: &str) -> BTreeSet<String> {
    let lines = header.lines().filter_map(|it| it.strip_prefix(MESSAGE));
    lines
        .map(|it| it.split(['=', ':', '"']).next().unwrap_or(it).to_owned())
        .collect()
}

fn complaints(header: &BTreeSet<String>, page: &BTreeSet<String>) -> Vec<String> {
    let missing = header
        .difference(page)
        .map(|it| format!("{PAGE}: no row for {it}, which {HEADER} refuses or needs"));
    let gone = page
        .difference(header)
        .map(|it| format!("{PAGE}: {HEADER} has no {it}"));
    missing.chain(gone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_on_one_side_alone_are_named() {
        let header = options(
            "#ifdef CONFIG_A\n#error \"CONFIG_DONJON needs CONFIG_A=n: why\"\n#endif\n\
             #error \"CONFIG_DONJON needs CONFIG_B: why\"\n#error \"CONFIG_DONJON needs CONFIG_C\"\n",
        );
        let both: BTreeSet<String> = ["A".to_owned(), "B".into(), "C".into()].into();
        assert_eq!(header, both);
        assert!(complaints(&header, &both).is_empty());
        let other: BTreeSet<String> = ["A".to_owned(), "C".into(), "D".into()].into();
        let complaints = complaints(&header, &other);
        assert_eq!(complaints.len(), 2);
        assert!(complaints[0].contains("no row for B"));
        assert!(complaints[1].contains("has no D"));
    }
}
