// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of `docs/testing.md`: what holds each invariant and each promise.
//!
//! Attacks and tests name in the code what they hold. Files, host tests and what the auditor sees
//! are data, in `docs/testing.toml`.

mod complaints;
mod names;
mod page;
mod row;

use std::fs;

use anyhow::{Context, Result};
use donjon_generator::{generated, section};
use donjon_machine::paths;

use super::{none, tree};
use crate::docs::page::Page;
use crate::test::Test;

use complaints::Tree;
use row::Data;

const PAGE: &str = "docs/testing.md";
const DATA: &str = "docs/testing.toml";
const INVARIANTS: &str = "docs/invariants.md";
const PROMISES: &str = "docs/threat-model.md";
/// Where a file of the column of rules may stand.
const FOLDERS: [&str; 3] = ["", "inner-domain/core/src", "inner-domain/image/src"];

/// A test's name and what it holds.
pub struct Holder {
    /// The name.
    pub name: String,
    /// Invariants and promises.
    pub holds: Vec<&'static str>,
}

impl Holder {
    /// What a test says about itself.
    pub fn of(test: &Test) -> Self {
        Self {
            name: test.name.clone(),
            holds: test.holds.clone(),
        }
    }
}

/// Writes the table, or with `check` compares it.
///
/// # Errors
///
/// If something that the table names does not exist, if an attack, a control or a row is missing,
/// or, with `check`, if the page has another table.
pub fn run(tests: &[Holder], check: bool) -> Result<()> {
    let mut ids: Vec<_> = first_cells(&Page::open(INVARIANTS)?, "I").collect();
    ids.extend(first_cells(&Page::open(PROMISES)?, "P"));
    let text = fs::read_to_string(paths::in_root(DATA)).context(DATA)?;
    let data: Data = toml::from_str(&text).context(DATA)?;
    let attacks: Vec<_> = donjon_attack::all().collect();
    let tree = Tree {
        ids: &ids,
        attacks: &attacks,
        host_tests: tree::host_tests()?,
        tests,
        is_file: &|path| {
            FOLDERS
                .iter()
                .any(|it| paths::in_root(it).join(path).exists())
        },
    };
    none(&tree.complaints(&data))?;
    let rows = row::rows(&ids, &data, &attacks, tests);
    let found = fs::read_to_string(paths::in_root(PAGE)).context(PAGE)?;
    let text = section::replace(&found, "promises", &page::table(&rows)).context(PAGE)?;
    let source = "the `holds` of tests and attacks, with docs/testing.toml,";
    generated::write_or_check([(PAGE, text)], check, source, "cargo xtask check --write")
}

/// First cells that are `letter` and a number.
fn first_cells(page: &Page, letter: &str) -> impl Iterator<Item = String> {
    let rows = page.tables.iter().flat_map(|it| &it.rows);
    rows.filter_map(move |row| {
        let id = row.first()?.text.clone();
        let number = id.strip_prefix(letter)?;
        number.parse::<u32>().is_ok().then_some(id)
    })
}
