// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tables of `docs/kernel-options.md` against the header that refuses options and the fragment
//! that turns others on.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result, ensure};
use donjon_machine::paths;

use super::none;
use super::page::Page;

const PAGE: &str = "docs/kernel-options.md";
const HEADER: &str = "kernel-patch/files/arch/arm64/include/asm/donjon_conflicts.h";
const FRAGMENT: &str = "kernel-patch/config/distribution.config";
/// Begins the reason in the header.
const MESSAGE: &str = "#error \"CONFIG_DONJON needs CONFIG_";

/// Fails unless the page lists the options of the header as refused or needed, those of the fragment
/// as allowed, and no others.
pub fn check() -> Result<()> {
    let text = fs::read_to_string(paths::in_root(HEADER)).context(HEADER)?;
    let in_header = options(&text);
    ensure!(
        !in_header.is_empty(),
        "{HEADER}: no lines begin with {MESSAGE}"
    );
    let fragment = fs::read_to_string(paths::in_root(FRAGMENT)).context(FRAGMENT)?;
    let page = Page::open(PAGE)?;
    let mut all = complaints(HEADER, &in_header, &in_column(&page, "option"));
    all.extend(complaints(
        FRAGMENT,
        &turned_on(&fragment),
        &in_column(&page, "allowed"),
    ));
    none(&all)
}

/// What stands in the columns of that name.
fn in_column(page: &Page, name: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for table in &page.tables {
        if let Ok(column) = table.column(name) {
            found.extend(table.rows.iter().flat_map(|it| it[column].code.clone()));
        }
    }
    found
}

fn turned_on(fragment: &str) -> BTreeSet<String> {
    let lines = fragment.lines().filter_map(|it| it.strip_suffix("=y"));
    lines
        .filter_map(|it| it.strip_prefix("CONFIG_"))
        .map(str::to_owned)
        .collect()
}

fn options(header: &str) -> BTreeSet<String> {
    let lines = header.lines().filter_map(|it| it.strip_prefix(MESSAGE));
    lines
        .map(|it| it.split(['=', ':', '"']).next().unwrap_or(it).to_owned())
        .collect()
}

fn complaints(file: &str, in_file: &BTreeSet<String>, in_page: &BTreeSet<String>) -> Vec<String> {
    let missing = in_file
        .difference(in_page)
        .map(|it| format!("{PAGE}: no row for {it}, which {file} has"));
    let gone = in_page
        .difference(in_file)
        .map(|it| format!("{PAGE}: {file} has no {it}"));
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
        assert!(complaints(HEADER, &header, &both).is_empty());
        let other: BTreeSet<String> = ["A".to_owned(), "C".into(), "D".into()].into();
        let complaints = complaints(HEADER, &header, &other);
        assert_eq!(complaints.len(), 2);
        assert!(complaints[0].contains("no row for B"));
        assert!(complaints[1].contains("has no D"));
    }

    #[test]
    fn a_fragment_turns_on_what_it_sets_to_y() {
        let found = turned_on("# why\nCONFIG_A=y\nCONFIG_B=n\nCONFIG_C=16\n");
        assert_eq!(found, ["A".to_owned()].into());
    }
}
