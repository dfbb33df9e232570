// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of `docs/testing.md` against invariants, attacks and tests.
//!
//! The attacks and their controls are read from the code. Where the auditor has to name an
//! invariant after a control, the row of that invariant must list this control.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use donjon_attack::Attack;
use donjon_builder::arguments::HostArguments;
use donjon_machine::paths;

use super::page::{Cell, Page, Table};
use super::{none, tree};

const PAGE: &str = "docs/testing.md";
const INVARIANTS: &str = "docs/invariants.md";
const PROMISES: &str = "docs/threat-model.md";
/// Where a file of the column of rules may stand.
const FOLDERS: [&str; 3] = ["", "inner-domain/core/src", "inner-domain/image/src"];

/// One row.
struct Row {
    id: String,
    rules: Vec<String>,
    host_tests: Vec<String>,
    attacks: Vec<String>,
    guest_tests: Vec<String>,
    auditor: Cell,
}

/// What the rows are compared with.
struct Tree<'a> {
    ids: Vec<String>,
    attacks: Vec<&'static Attack>,
    host_tests: BTreeSet<String>,
    guest_tests: Vec<String>,
    is_file: &'a dyn Fn(&str) -> bool,
}

/// Fails unless the table is complete and everything that it names exists.
pub fn check(host: &HostArguments) -> Result<()> {
    let page = Page::open(PAGE)?;
    let mut ids: Vec<_> = first_cells(&Page::open(INVARIANTS)?, "I").collect();
    ids.extend(first_cells(&Page::open(PROMISES)?, "P"));
    let tree = Tree {
        ids,
        attacks: donjon_attack::all().collect(),
        host_tests: tree::host_tests()?,
        guest_tests: crate::names(host),
        is_file: &|path| {
            FOLDERS
                .iter()
                .any(|it| paths::in_root(it).join(path).exists())
        },
    };
    let rows = rows(page.table("id").context(PAGE)?).context(PAGE)?;
    none(&complaints(&rows, &tree))
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

fn rows(table: &Table) -> Result<Vec<Row>> {
    let rules = table.column("rules")?;
    let host_tests = table.column("host tests")?;
    let attacks = table.column("attacks (controls)")?;
    let guest_tests = table.column("guest tests")?;
    let auditor = table.column("seen by the auditor")?;
    let rows = table.rows.iter().map(|row| Row {
        id: row[0].text.clone(),
        rules: row[rules].code.clone(),
        host_tests: row[host_tests].code.clone(),
        attacks: row[attacks].code.clone(),
        guest_tests: row[guest_tests].code.clone(),
        auditor: row[auditor].clone(),
    });
    Ok(rows.collect())
}

fn complaints(rows: &[Row], tree: &Tree<'_>) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut say = |text: String| complaints.push(format!("{PAGE}: {text}"));
    for id in &tree.ids {
        match rows.iter().filter(|it| it.id == *id).count() {
            1 => {}
            0 => say(format!("no row for {id}")),
            more => say(format!("{more} rows for {id}")),
        }
    }
    let mut listed = BTreeSet::new();
    for row in rows {
        let id = &row.id;
        if !tree.ids.contains(id) {
            say(format!("{id} is neither an invariant nor a promise"));
        }
        for path in row.rules.iter().filter(|it| !(tree.is_file)(it)) {
            say(format!("{id}: there is no file `{path}`"));
        }
        for name in row
            .host_tests
            .iter()
            .filter(|it| !tree.host_tests.contains(*it))
        {
            say(format!("{id}: there is no host test `{name}`"));
        }
        for name in row
            .guest_tests
            .iter()
            .filter(|it| !is_test(it, &tree.guest_tests))
        {
            say(format!(
                "{id}: there is no test `{name}`; `cargo xtask test --list` shows them"
            ));
        }
        if row.host_tests.is_empty() && row.guest_tests.is_empty() {
            say(format!("{id}: no test"));
        }
        if row.auditor.text.is_empty() {
            say(format!("{id}: nothing is said of the auditor"));
        }
        for pair in attacks_of(row, &tree.attacks) {
            match pair {
                Ok((attack, control)) => {
                    listed.insert((attack, control, id.as_str()));
                }
                Err(name) => say(format!(
                    "{id}: `{name}` is no attack, and no control of one"
                )),
            }
        }
    }
    for (number, attack) in tree.attacks.iter().enumerate() {
        let name = attack.name;
        if !listed.iter().any(|it| it.0 == number) {
            say(format!("no row has the attack `{name}`"));
        }
        for (control, it) in attack.controls.iter().enumerate() {
            let without = it.without.name();
            let in_rows: Vec<_> = listed
                .iter()
                .filter(|it| (it.0, it.1) == (number, Some(control)))
                .map(|it| it.2)
                .collect();
            if in_rows.is_empty() {
                say(format!(
                    "no row has the control `{without}` of the attack `{name}`"
                ));
            }
            for id in it.seen_as.iter().filter(|id| !in_rows.contains(*id)) {
                say(format!(
                    "the auditor names {id} after `{name}` without `{without}`, and the row {id} \
                     does not list that: add `{name}` (`{without}`)"
                ));
            }
        }
    }
    complaints
}

/// Whether a test has this name, or begins with it if it ends in `*`.
fn is_test(name: &str, all: &[String]) -> bool {
    match name.strip_suffix('*') {
        Some(begin) => all.iter().any(|it| it.starts_with(begin)),
        None => all.iter().any(|it| it == name),
    }
}

/// Pairs of an attack and, behind its name, each of its controls; or the words that are neither.
fn attacks_of<'a>(
    row: &'a Row,
    all: &[&Attack],
) -> Vec<std::result::Result<(usize, Option<usize>), &'a str>> {
    let mut current = None;
    let each = row.attacks.iter().map(|word| {
        if let Some(number) = all.iter().position(|it| it.is(word)) {
            current = Some(number);
            return Ok((number, None));
        }
        let number = current.ok_or(word.as_str())?;
        let mut controls = all[number].controls.iter();
        let control = controls.position(|it| it.without.name() == *word);
        Ok((number, Some(control.ok_or(word.as_str())?)))
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use donjon_attack::{Control, Without};

    const HEAD: &str = "| id | rules | host tests | attacks (controls) | guest tests | \
                        seen by the auditor |\n|---|---|---|---|---|---|\n";

    const ATTACKS: &[Attack] = &[
        Attack {
            name: "new-name",
            alias: Some("A1"),
            controls: &[Control {
                without: Without::inner(&["weaken-x"]),
                attempts: &[],
                seen_as: &["I1"],
            }],
            ..Attack::ROW
        },
        Attack {
            name: "gate",
            ..Attack::ROW
        },
    ];

    fn tree() -> Tree<'static> {
        Tree {
            ids: vec!["I1".into(), "I2".into()],
            attacks: ATTACKS.iter().collect(),
            host_tests: BTreeSet::from(["it_holds".to_owned()]),
            guest_tests: vec!["boot:asid".into()],
            is_file: &|path| path == "rules.rs",
        }
    }

    fn said(markdown: &str) -> Vec<String> {
        let page = Page::read(&format!("{HEAD}{markdown}"));
        let rows = rows(page.table("id").expect("table")).expect("rows");
        let found = complaints(&rows, &tree()).into_iter();
        found
            .map(|it| it.replace("docs/testing.md: ", ""))
            .collect()
    }

    const FIRST: &str =
        "| I1 | `rules.rs` | `it_holds` | `a1` (`weaken-x`), `gate` | `boot:*` | yes |\n";
    const SECOND: &str = "| I2 | | `it_holds` | | | no |\n";

    #[test]
    fn a_complete_table_has_no_complaints() {
        assert!(said(&format!("{FIRST}{SECOND}")).is_empty());
    }

    #[test]
    fn a_missing_row_and_what_stood_in_it_are_named() {
        assert_eq!(said(FIRST), ["no row for I2"]);
        assert_eq!(
            said(SECOND),
            [
                "no row for I1",
                "no row has the attack `new-name`",
                "no row has the control `weaken-x` of the attack `new-name`",
                "the auditor names I1 after `new-name` without `weaken-x`, and the row I1 does \
                 not list that: add `new-name` (`weaken-x`)",
                "no row has the attack `gate`",
            ]
        );
    }

    #[test]
    fn what_does_not_exist_is_named() {
        let row = "| I3 | `no.rs` | `it_fails` | `A2` `gate` (`weaken-y`) | `boot:tlbi` | |\n";
        assert_eq!(
            said(&format!("{FIRST}{SECOND}{row}")),
            [
                "I3 is neither an invariant nor a promise",
                "I3: there is no file `no.rs`",
                "I3: there is no host test `it_fails`",
                "I3: there is no test `boot:tlbi`; `cargo xtask test --list` shows them",
                "I3: nothing is said of the auditor",
                "I3: `A2` is no attack, and no control of one",
                "I3: `weaken-y` is no attack, and no control of one",
            ]
        );
    }
}
