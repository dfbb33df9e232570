// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of the table: the data of an invariant with the attacks and tests that name it.

use std::collections::BTreeMap;

use donjon_attack::{Attack, Control};
use serde::Deserialize;

use super::Holder;
use super::names;

/// The data of all rows, by invariant or promise.
pub type Data = BTreeMap<String, Entry>;

/// What no attack and no test says about an invariant or a promise.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Entry {
    /// Files with the rule.
    pub rules: Vec<String>,
    /// Functions that `cargo test` runs.
    pub host_tests: Vec<String>,
    /// Whether the auditor sees a violation.
    pub auditor: String,
    /// Why there is no attack, where there is none.
    pub no_attack: Option<String>,
}

/// One row.
pub struct Row<'a> {
    /// The invariant or promise.
    pub id: &'a str,
    /// Data of the row.
    pub entry: &'a Entry,
    /// Attacks with the controls that stand in this row.
    pub attacks: Vec<(&'static Attack, Vec<&'static Control>)>,
    /// Tests, with a star for all that begin alike.
    pub tests: Vec<String>,
}

/// A row for each of `ids` that has data, in this order.
pub fn rows<'a>(
    ids: &'a [String],
    data: &'a Data,
    attacks: &[&'static Attack],
    tests: &[Holder],
) -> Vec<Row<'a>> {
    let all: Vec<&str> = tests.iter().map(|it| it.name.as_str()).collect();
    let row = |id: &'a String| {
        let holders = tests.iter().filter(|it| it.holds.contains(&id.as_str()));
        let holders: Vec<&str> = holders.map(|it| it.name.as_str()).collect();
        Some(Row {
            id,
            entry: data.get(id)?,
            attacks: attacks.iter().filter_map(|it| in_row(it, id)).collect(),
            tests: names::short(&holders, &all),
        })
    };
    ids.iter().filter_map(row).collect()
}

/// An attack and the controls that stand with it in the row of `id`; nothing if it is not about
/// that.
fn in_row(attack: &'static Attack, id: &str) -> Option<(&'static Attack, Vec<&'static Control>)> {
    if !attack.all_held().contains(&id) {
        return None;
    }
    let holds = attack.holds.contains(&id);
    let controls = attack.controls.iter();
    let controls =
        controls.filter(|it| it.seen_as.contains(&id) || (holds && it.seen_as.is_empty()));
    Some((attack, controls.collect()))
}
