// SPDX-License-Identifier: MIT OR Apache-2.0
//! Generated files: written, or compared with what is there.

use std::fs;

use anyhow::{Context, Result, bail};
use donjon_machine::paths;

/// A file of the repository and its contents.
pub type File = (&'static str, String);

/// Writes each file that differs, or with `check` only compares them. `source` is what they are
/// generated from, and `command` the command that writes them.
///
/// # Errors
///
/// With `check`, when a file differs or is missing; without, when one cannot be written.
pub fn write_or_check(
    files: impl IntoIterator<Item = File>,
    check: bool,
    source: &str,
    command: &str,
) -> Result<()> {
    let mut stale = Vec::new();
    for (name, text) in files {
        let path = paths::in_root(name);
        if fs::read_to_string(&path).is_ok_and(|found| found == text) {
            continue;
        }
        if check {
            stale.push(name);
            continue;
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        eprintln!("wrote {name}");
    }
    if !stale.is_empty() {
        bail!(
            "not what {source} generates: {}; run `{command}` and commit the result",
            stale.join(", ")
        );
    }
    Ok(())
}
