// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tables of `docs/kernel-options.md` against the header that refuses options and the fragment
//! that turns others on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result, ensure};
use donjon_machine::paths;

use super::none;
use super::page::{Page, Table};

const PAGE: &str = "docs/kernel-options.md";
const HEADER: &str = "kernel-patch/files/arch/arm64/include/asm/donjon_conflicts.h";
const FRAGMENT: &str = "kernel-patch/config/distribution.config";
const DEBIAN: &str = "kernel-patch/config/debian.config";
/// The columns of reasons, and what ours are where there is one.
const REASONS: [(&str, &str); 2] = [("why it is refused", "n"), ("why", "y")];
/// Begins the reason in the header.
const MESSAGE: &str = "#error \"CONFIG_DONJON needs CONFIG_";

/// Fails unless the page lists the options of the header as refused or needed, with its reasons,
/// those of the fragment as allowed, and no others, and names what is off in the kernel with
/// Debian's configuration.
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
    all.extend(other_reasons(&page, &reasons(&text)));
    let debian = fs::read_to_string(paths::in_root(DEBIAN)).context(DEBIAN)?;
    let markdown = fs::read_to_string(paths::in_root(PAGE)).context(PAGE)?;
    all.extend(not_named(&debian, &markdown));
    none(&all)
}

/// The reason behind each option of the header that has one.
fn reasons(header: &str) -> BTreeMap<String, String> {
    let of_line = |line: &str| {
        let (option, reason) = line.strip_prefix(MESSAGE)?.split_once(": ")?;
        let option = option.split('=').next().unwrap_or(option);
        Some((option.to_owned(), reason.trim_end_matches('"').to_owned()))
    };
    header.lines().filter_map(of_line).collect()
}

/// Rows with another reason than the header has, and rows in which our value is not the one that
/// the table is about.
fn other_reasons(page: &Page, reasons: &BTreeMap<String, String>) -> Vec<String> {
    let mut all = Vec::new();
    for (table, (reason, ours)) in page
        .tables
        .iter()
        .flat_map(|it| REASONS.map(|why| (it, why)))
    {
        let columns = ["option", "ours", reason].map(|it| Table::column(table, it).ok());
        let [Some(option), Some(value), Some(reason)] = columns else {
            continue;
        };
        for row in &table.rows {
            let (name, said) = (&row[option].text, &row[reason].text);
            if let Some(other) = reasons.get(name).filter(|it| *it != said) {
                all.push(format!("{PAGE}: {name}: `{said}`, but {HEADER}: `{other}`"));
            }
            if row[value].text != ours {
                all.push(format!("{PAGE}: {name}: ours is {ours}"));
            }
        }
    }
    all
}

/// Options that a fragment turns off, and of which the page says nothing.
fn not_named(fragment: &str, markdown: &str) -> Vec<String> {
    let lines = fragment.lines().filter_map(|it| it.strip_suffix("=n"));
    lines
        .filter_map(|it| it.strip_prefix("CONFIG_"))
        .filter(|it| !markdown.contains(&format!("`{it}`")))
        .map(|it| format!("{PAGE}: it does not name {it}, which {DEBIAN} turns off"))
        .collect()
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
    fn another_reason_and_another_value_are_named() {
        let header = "#error \"CONFIG_DONJON needs CONFIG_A=n: a reason\"\n\
                      #error \"CONFIG_DONJON needs CONFIG_B: it has to be\"\n\
                      #error \"CONFIG_DONJON needs CONFIG_C\"\n";
        let reasons = reasons(header);
        assert_eq!(reasons.len(), 2);
        let refused = |ours: &str, why: &str| {
            let head = "| option | Debian | ours | why it is refused |\n|---|---|---|---|\n";
            let page = Page::read(&format!("{head}| `A` | y | {ours} | {why} |\n"));
            other_reasons(&page, &reasons)
        };
        assert!(refused("n", "a reason").is_empty());
        assert!(refused("n", "another")[0].contains("`another`, but"));
        assert!(refused("y", "a reason")[0].contains("A: ours is n"));
        let needed = "| option | Debian | ours | why |\n|---|---|---|---|\n\
                      | `B` | n | y | it has to be |\n| `C` | n | y | whatever |\n";
        assert!(other_reasons(&Page::read(needed), &reasons).is_empty());
    }

    #[test]
    fn what_is_turned_off_in_silence_is_named() {
        let fragment = "# why\nCONFIG_A=n\nCONFIG_B=n\nCONFIG_C=y\n";
        let said = not_named(fragment, "* `A` is off. B is not set as code.");
        assert_eq!(said.len(), 1);
        assert!(said[0].contains("does not name B"));
    }

    #[test]
    fn a_fragment_turns_on_what_it_sets_to_y() {
        let found = turned_on("# why\nCONFIG_A=y\nCONFIG_B=n\nCONFIG_C=16\n");
        assert_eq!(found, ["A".to_owned()].into());
    }
}
