// SPDX-License-Identifier: MIT OR Apache-2.0
//! The map of modules and C files in `docs/architecture.md`, from their first sentences.

mod linux;
mod modules;
mod sentence;

use std::fs;

use anyhow::{Context, Result};
use donjon_machine::paths;

use crate::{generated, section};

const PAGE: &str = "docs/architecture.md";

/// Writes the map, or with `check` only compares it.
///
/// # Errors
///
/// With `check`, when the page has another map; when a file has no first sentence, or the page or
/// its markers are missing.
pub fn run(check: bool) -> Result<()> {
    let found =
        fs::read_to_string(paths::in_root(PAGE)).with_context(|| format!("reading {PAGE}"))?;
    let text = section::replace(&found, "modules", &modules::tables()?).context(PAGE)?;
    let text = section::replace(&text, "linux", &linux::tables()?).context(PAGE)?;
    generated::write_or_check(
        [(PAGE, text)],
        check,
        "the first sentence of each module and C file",
        "cargo xtask architecture",
    )
}

/// A cell of a table: a `|` would end it.
fn cell(sentence: &str) -> String {
    sentence.replace('|', "\\|")
}
