// SPDX-License-Identifier: MIT OR Apache-2.0
//! The temporary directory of one QEMU.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::TempDir;

/// How the names of these directories begin; the number of our process follows.
const PREFIX: &str = "donjon-run-";

/// Removed when dropped; what killed runs left is removed by the next one.
pub struct Scratch(TempDir);

impl Scratch {
    /// A new directory. Its path is short, as paths of sockets must be.
    ///
    /// # Errors
    ///
    /// If it cannot be created.
    pub fn new() -> Result<Self> {
        let base = std::env::temp_dir();
        remove_abandoned(&base);
        let directory = tempfile::Builder::new()
            .prefix(&format!("{PREFIX}{}-", std::process::id()))
            .tempdir_in(&base)
            .with_context(|| format!("creating a directory in {}", base.display()))?;
        Ok(Self(directory))
    }

    /// A path in it.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }
}

fn remove_abandoned(base: &Path) {
    let Ok(entries) = fs::read_dir(base) else {
        return;
    };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let process = name
            .strip_prefix(PREFIX)
            .and_then(|it| it.split('-').next());
        if process.is_some_and(|it| !Path::new("/proc").join(it).exists()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
