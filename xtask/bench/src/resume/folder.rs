// SPDX-License-Identifier: MIT OR Apache-2.0
//! The folder of a measurement's partial results.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use donjon_builder::whole;

/// Held by the run that takes and keeps them.
const LOCK: &str = "lock";
/// Older ones are removed.
const LIFE: Duration = Duration::from_secs(7 * 24 * 3600);

/// A folder that other runs leave alone as long as this is there.
pub struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Makes and locks it; nothing if another run has it.
    ///
    /// # Errors
    ///
    /// If that cannot be done.
    pub fn open(path: &Path) -> Result<Option<Self>> {
        let lock = path.join(LOCK);
        let file = fs::create_dir_all(path).and_then(|()| File::create(&lock));
        let file = file.with_context(|| format!("making {}", lock.display()))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self {
                path: path.to_owned(),
                _lock: file,
            })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("locking {}", lock.display()))
            }
        }
    }

    /// Removes what was not completed and what is old; with `all` everything.
    ///
    /// # Errors
    ///
    /// Those of [`remove`].
    pub fn sweep(&self, all: bool) -> Result<()> {
        let entries = fs::read_dir(&self.path);
        let entries = entries.with_context(|| format!("reading {}", self.path.display()))?;
        for entry in entries.filter_map(Result::ok) {
            let path = entry.path();
            let changed = entry.metadata().and_then(|it| it.modified()).ok();
            let age = changed.and_then(|it| it.elapsed().ok());
            let is_old = age.is_some_and(|it| it > LIFE);
            if entry.file_name() != LOCK && (all || is_old || whole::is_unfinished(&path)) {
                remove(&path)?;
            }
        }
        Ok(())
    }

    /// The file of a unit: a name that people recognize, and enough of the digest.
    pub fn file(&self, unit: &str, key: &str) -> PathBuf {
        let unit = unit.replace(|it: char| !it.is_ascii_alphanumeric(), "-");
        let key = key.get(..16).unwrap_or(key);
        self.path.join(format!("{unit}-{key}.json"))
    }
}

/// Removes a partial result, if it is there.
///
/// # Errors
///
/// If it cannot be removed; the message says what to do.
pub fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed.with_context(|| {
            format!(
                "removing {}, which a later run takes for its own; remove it by hand",
                path.display()
            )
        }),
    }
}
