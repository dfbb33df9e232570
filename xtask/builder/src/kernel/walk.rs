// SPDX-License-Identifier: MIT OR Apache-2.0
//! Directory walks in a fixed order.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use walkdir::WalkDir;

/// All files (and symbolic links) below `directory`, sorted. None if it does not exist.
pub fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    files_except(directory, &|_| false)
}

/// Files (and symbolic links) below `directory` without those that `skip` says, given paths
/// relative to `directory`; sorted. None if it does not exist.
pub fn files_except(directory: &Path, skip: &dyn Fn(&Path) -> bool) -> Result<Vec<PathBuf>> {
    if !directory.exists() {
        return Ok(Vec::new());
    }
    let entries = WalkDir::new(directory).min_depth(1).into_iter();
    let entries = entries.filter_entry(|it| {
        let path = it.path();
        !skip(path.strip_prefix(directory).unwrap_or(path))
    });
    let mut found = Vec::new();
    for entry in entries {
        let entry =
            entry.with_context(|| format!("reading the directory {}", directory.display()))?;
        if !entry.file_type().is_dir() {
            found.push(entry.into_path());
        }
    }
    found.sort();
    Ok(found)
}
