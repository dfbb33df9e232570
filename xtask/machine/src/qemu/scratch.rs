// SPDX-License-Identifier: MIT OR Apache-2.0
//! A directory for the sockets and files of one QEMU.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result};

static COUNT: AtomicU32 = AtomicU32::new(0);

/// Removed when dropped; what killed runs left is removed by the next one.
pub struct Scratch(PathBuf);

impl Scratch {
    /// A new directory. Its path is short, as paths of sockets must be.
    pub fn new() -> Result<Self> {
        let base = std::env::temp_dir();
        remove_abandoned(&base);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = base.join(format!("donjon-run-{}-{number}", std::process::id()));
        fs::create_dir(&path).with_context(|| format!("creating {}", path.display()))?;
        Ok(Self(path))
    }

    /// A path in it.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
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
            .strip_prefix("donjon-run-")
            .and_then(|it| it.split('-').next());
        if process.is_some_and(|it| !Path::new("/proc").join(it).exists()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
