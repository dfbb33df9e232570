// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files for `--json`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

/// Fails now rather than after a long run.
pub fn can_write(path: Option<&Path>) -> Result<()> {
    let Some(path) = path else { return Ok(()) };
    fs::File::options()
        .create(true)
        .append(true)
        .open(path)
        .with_context(|| format!("writing {}", path.display()))?;
    Ok(())
}

/// Writes a document, if there is a file for it.
pub fn write(path: Option<&Path>, document: &impl Serialize) -> Result<()> {
    let Some(path) = path else { return Ok(()) };
    fs::write(path, serde_json::to_string_pretty(document)? + "\n")
        .with_context(|| format!("writing {}", path.display()))
}
