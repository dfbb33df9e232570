// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reviewed list, read and checked.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use donjon_machine::paths;
use serde::Deserialize;

use super::encoding::{self, Set};

/// Where it is, below the root of the repository.
pub const PATH: &str = "kernel-patch/allow-list.toml";

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// What may stand in pages that are executable at EL1.
    pub allowed: Vec<Group>,
    /// What may not, and was thought about.
    pub refused: Vec<Group>,
}

/// Entries with an argument in common.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Heading of the group.
    pub title: String,
    /// The argument.
    pub text: String,
    /// The entries.
    pub entries: Vec<Entry>,
}

/// One decision.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Encodings that it decides about, see [`encoding::parse`].
    pub encoding: String,
    /// The manual's name for it.
    pub name: String,
    /// The reason.
    pub why: String,
}

impl Entry {
    /// What its encoding stands for.
    pub fn set(&self) -> Result<Set> {
        encoding::parse(&self.encoding)
    }
}

/// Reads the list of the repository.
pub fn read() -> Result<List> {
    let text =
        fs::read_to_string(paths::in_root(PATH)).with_context(|| format!("reading {PATH}"))?;
    parse(&text).with_context(|| format!("in {PATH}"))
}

/// Reads a list and refuses one that contradicts itself.
pub fn parse(text: &str) -> Result<List> {
    let list: List = toml::from_str(text)?;
    let mut allowed = BTreeMap::new();
    for entry in entries(&list.allowed) {
        for it in keys(entry)? {
            let other = allowed.insert(it, &entry.name);
            ensure!(
                other.is_none(),
                "{} and {} allow the same instruction",
                other.map_or("", String::as_str),
                entry.name
            );
        }
    }
    for entry in entries(&list.refused) {
        // A whole exception level is refused but for what is allowed of it.
        let keys = keys(entry)?;
        let clash = keys.iter().find_map(|it| allowed.get(it));
        if keys.len() < WHOLE_LEVEL
            && let Some(name) = clash
        {
            anyhow::bail!(
                "{} is refused and {name} allowed, and they overlap",
                entry.name
            );
        }
    }
    for entry in entries(&list.allowed).chain(entries(&list.refused)) {
        ensure!(!entry.why.is_empty(), "{} has no reason", entry.name);
        ensure!(
            !format!("{}{}", entry.name, entry.why).contains(['|', '"', '\\']),
            "{} contains a character that tables or strings cannot",
            entry.name
        );
    }
    Ok(list)
}

/// Encodings of one op0 and op1.
const WHOLE_LEVEL: usize = 16 * 16 * 8;

fn keys(entry: &Entry) -> Result<Vec<(bool, u16)>> {
    let set = entry.set()?;
    let exceptions = set.exceptions.iter().map(|&it| (true, u16::from(it)));
    let encodings = set.encodings.iter().map(|&it| (false, it));
    Ok(exceptions.chain(encodings).collect())
}

/// The entries of all groups.
pub fn entries(groups: &[Group]) -> impl Iterator<Item = &Entry> {
    groups.iter().flat_map(|it| &it.entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(allowed: &[&str], refused: &[&str]) -> Result<List> {
        let group = |kind: &str, encodings: &[&str]| {
            let entries: Vec<String> = encodings
                .iter()
                .map(|it| format!("{{ encoding = '{it}', name = 'n', why = 'w' }}"))
                .collect();
            format!(
                "[[{kind}]]\ntitle = 't'\ntext = 'x'\nentries = [{}]\n",
                entries.join(", ")
            )
        };
        parse(&(group("allowed", allowed) + &group("refused", refused)))
    }

    #[test]
    fn an_instruction_is_decided_once() {
        assert!(parsed(&["S3_0_C4_C0_0", "BRK"], &["S3_0_C4_C0_1", "HLT"]).is_ok());
        assert!(parsed(&["S3_0_C4_C0_0", "S3_0_C4_C0_0-1"], &[]).is_err());
        assert!(parsed(&["S3_0_C4_C0_0"], &["S3_0_C4_C0_0-1"]).is_err());
        assert!(parsed(&["BRK"], &["BRK"]).is_err());
    }

    #[test]
    fn a_whole_exception_level_may_have_exceptions() {
        assert!(parsed(&["S3_4_C13_C0_2"], &["S3_4_C0-15_C0-15_0-7"]).is_ok());
    }
}
