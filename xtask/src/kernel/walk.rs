// SPDX-License-Identifier: MIT OR Apache-2.0
//! Directory walks in a fixed order.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// All files (and symbolic links) below `directory`, sorted. None if it does not exist.
pub fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    files_except(directory, &|_| false)
}

/// The same without what `skip` says, given paths relative to `directory`.
pub fn files_except(directory: &Path, skip: &dyn Fn(&Path) -> bool) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    if directory.exists() {
        descend(directory, directory, skip, &mut found)?;
    }
    found.sort();
    Ok(found)
}

fn descend(
    top: &Path,
    directory: &Path,
    skip: &dyn Fn(&Path) -> bool,
    found: &mut Vec<PathBuf>,
) -> Result<()> {
    let entries = fs::read_dir(directory)
        .with_context(|| format!("reading the directory {}", directory.display()))?;
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        if skip(path.strip_prefix(top).unwrap_or(&path)) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            descend(top, &path, skip, found)?;
        } else {
            found.push(path);
        }
    }
    Ok(())
}
