// SPDX-License-Identifier: MIT OR Apache-2.0
//! `docs/architecture.md`: the table of crates against Cargo's own view of the workspace, and the
//! tables of modules and C files against their first sentences.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use anyhow::{Context, Result};
use donjon_machine::{paths, process};
use serde::Deserialize;

use super::none;
use super::page::{Page, Table};

const PAGE: &str = "docs/architecture.md";

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// Absent for an ordinary dependency.
    kind: Option<String>,
    /// Present for a crate of this repository.
    path: Option<String>,
}

/// Where a crate is, and which crates of the workspace it uses.
#[derive(Debug, Default, PartialEq, Eq)]
struct Entry {
    folder: String,
    uses: BTreeSet<String>,
}

/// Fails unless the page has each crate, its folder and exactly its dependencies, and a row for
/// each module and C file.
pub fn check() -> Result<()> {
    donjon_generator::architecture::run(true)?;
    let page = Page::open(PAGE)?;
    let table = page.table("crate").context(PAGE)?;
    none(&differences(
        &written(table).context(PAGE)?,
        &workspace().context("asking Cargo about the workspace")?,
    ))
}

fn written(table: &Table) -> Result<BTreeMap<String, Entry>> {
    let (folder, uses) = (table.column("folder")?, table.column("may use")?);
    let mut all = BTreeMap::new();
    for row in &table.rows {
        let name = row[0].code.first().context("a row names no crate")?;
        let entry = Entry {
            folder: row[folder].text.clone(),
            uses: row[uses].code.iter().cloned().collect(),
        };
        all.insert(name.clone(), entry);
    }
    Ok(all)
}

fn workspace() -> Result<BTreeMap<String, Entry>> {
    let mut command = Command::new("cargo");
    command
        .args(["metadata", "--no-deps", "--format-version=1", "--quiet"])
        .current_dir(paths::root());
    let metadata: Metadata = serde_json::from_str(&process::output(&mut command)?)?;
    let packages = metadata.packages.into_iter();
    Ok(packages
        .map(|package| {
            let folder = package.manifest_path.trim_end_matches("/Cargo.toml");
            let root = paths::root().to_string_lossy();
            let folder = folder.trim_start_matches(&*root).trim_matches('/');
            let uses = package.dependencies.into_iter();
            let uses = uses.filter(|it| it.kind.is_none() && it.path.is_some());
            let entry = Entry {
                folder: format!("{folder}/"),
                uses: uses.map(|it| it.name).collect(),
            };
            (package.name, entry)
        })
        .collect())
}

fn differences(written: &BTreeMap<String, Entry>, is: &BTreeMap<String, Entry>) -> Vec<String> {
    let mut complaints = Vec::new();
    for (name, is) in is {
        match written.get(name) {
            None => complaints.push(format!("{PAGE}: no row for the crate `{name}`")),
            Some(row) if row != is => complaints.push(format!(
                "{PAGE}: the crate `{name}` is in `{}` and uses {:?}, and the row says `{}` and {:?}",
                is.folder, is.uses, row.folder, row.uses
            )),
            Some(_) => {}
        }
    }
    let gone = written.keys().filter(|it| !is.contains_key(*it));
    complaints.extend(gone.map(|it| format!("{PAGE}: there is no crate `{it}`")));
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_wrong_and_superfluous_rows_are_named() {
        let page = Page::read(
            "| crate | folder | may use |\n|---|---|---|\n| `a` | `a/` | |\n\
             | `b` | `b/` | `a` |\n| `d` | `d/` | |\n",
        );
        let entry = |folder: &str, uses: &[&str]| Entry {
            folder: folder.into(),
            uses: uses.iter().map(|&it| it.to_owned()).collect(),
        };
        let is = BTreeMap::from([
            ("a".to_owned(), entry("a/", &[])),
            ("b".to_owned(), entry("b/", &["a", "c"])),
            ("c".to_owned(), entry("c/", &[])),
        ]);
        let table = page.table("crate").expect("table");
        let found = differences(&written(table).expect("rows"), &is);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].contains("the crate `b`"), "{found:?}");
        assert!(found[1].contains("no row for the crate `c`"), "{found:?}");
        assert!(found[2].contains("no crate `d`"), "{found:?}");
    }
}
