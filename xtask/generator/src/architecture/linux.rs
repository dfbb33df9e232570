// SPDX-License-Identifier: MIT OR Apache-2.0
//! The C and assembly files of Linux's side, with the calls that each of them makes.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use donjon_machine::paths;

use super::{cell, sentence};

/// The folder of the product, with `test/` and `attack/` in it.
const FOLDER: &str = "kernel-patch/files/arch/arm64/donjon";
/// What the number of a call begins with in C.
const CALL: &str = "DONJON_FN_";

/// A table for each folder. What the hostile module calls is not told: it is everything.
pub fn tables() -> Result<String> {
    let root = paths::in_root(FOLDER);
    let mut folders: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    collect(&root, &mut folders)?;
    let mut out = String::new();
    for (folder, files) in folders {
        let name = folder.strip_prefix(&root)?;
        let is_attack = name.starts_with("attack");
        let title = match name.as_os_str().is_empty() {
            true => "The product".to_owned(),
            false => format!("`{}/`", name.display()),
        };
        let (head, line) = match is_attack {
            true => ("| file | holds |", "|---|---|"),
            false => ("| file | holds | calls |", "|---|---|---|"),
        };
        // Writing to a String cannot fail.
        let _ = write!(out, "\n### {title}\n\n{head}\n{line}\n");
        for file in files {
            let text = fs::read_to_string(&file)?;
            let sentence = sentence::of_c(&text).with_context(|| file.display().to_string())?;
            let name = file.file_name().context("a file")?.to_string_lossy();
            let _ = write!(out, "| `{name}` | {} |", cell(&sentence));
            if !is_attack {
                let _ = write!(out, " {} |", calls(&text).join(", "));
            }
            out.push('\n');
        }
    }
    Ok(out)
}

fn collect(folder: &Path, folders: &mut BTreeMap<PathBuf, Vec<PathBuf>>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, folders)?;
        } else if path.extension().is_some_and(|it| it == "c" || it == "S") {
            folders.entry(folder.to_owned()).or_default().push(path);
        }
    }
    if let Some(files) = folders.get_mut(folder) {
        files.sort();
    }
    Ok(())
}

/// The calls that a file names, in its order.
fn calls(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in text.split(CALL).skip(1) {
        let end =
            part.find(|it: char| !it.is_ascii_uppercase() && !it.is_ascii_digit() && it != '_');
        let call = format!("`{}`", &part[..end.unwrap_or(part.len())]);
        if !found.contains(&call) {
            found.push(call);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_named_once_and_in_order() {
        let text =
            "f(DONJON_FN_MAP, 0);\ng(DONJON_FN_FREE);\nf(DONJON_FN_MAP_BLOCK + DONJON_FN_MAP);";
        assert_eq!(calls(text), ["`MAP`", "`FREE`", "`MAP_BLOCK`"]);
    }

    #[test]
    fn the_map_has_product_test_and_attacks() {
        let tables = tables().expect("tables");
        for part in [
            "### The product\n",
            "### `test/`\n",
            "### `attack/compartment/`\n",
            "| `registers.c` |",
            " `SWITCH_ROOT`",
        ] {
            assert!(tables.contains(part), "{part}");
        }
    }
}
