// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where things are: the repository and the cache.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::lock::{self, Lock};

pub use donjon_machine::paths::{in_root, root};

/// The cache directory: `donjon` in `$XDG_CACHE_HOME` or `~/.cache`.
pub fn cache() -> Result<PathBuf> {
    let absolute = |name| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|it| it.is_absolute())
    };
    let base = absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .context("neither XDG_CACHE_HOME nor HOME names a directory; set one of them")?;
    let cache = base.join("donjon");
    fs::create_dir_all(&cache)
        .with_context(|| format!("creating the cache directory {}", cache.display()))?;
    Ok(cache)
}

/// Part of a name in the cache: the first 8 bytes of a digest, in hexadecimal.
pub fn digest_name(digest: &[u8]) -> String {
    let bytes = digest.iter().take(8);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

/// Held while the cache changes, so that two commands do not collide.
pub struct CacheLock {
    _lock: Lock,
    temporary: PathBuf,
}

impl CacheLock {
    /// Waits for other commands, then clears what killed ones left behind.
    pub fn take() -> Result<Self> {
        Self::take_in(&cache()?)
    }

    /// The lock of a directory of the cache that has one of its own: what is made there takes
    /// minutes, and uses what the other lock guards.
    pub fn take_in(cache: &Path) -> Result<Self> {
        fs::create_dir_all(cache)?;
        let lock = lock::take(&cache.join("lock"))?;
        Self::of(lock, cache)
    }

    /// The cache's lock, or nothing once `place` is there: what is finished needs none.
    pub fn take_unless_there(place: &Path) -> Result<Option<Self>> {
        Self::take_unless_there_in(&cache()?, place)
    }

    /// The lock of a directory of the cache, or nothing once `place` is there.
    pub fn take_unless_there_in(cache: &Path, place: &Path) -> Result<Option<Self>> {
        fs::create_dir_all(cache)?;
        let lock = lock::take_unless(&cache.join("lock"), || place.exists())?;
        lock.map(|it| Self::of(it, cache)).transpose()
    }

    fn of(lock: Lock, cache: &Path) -> Result<Self> {
        let temporary = cache.join("tmp");
        if temporary.exists() {
            fs::remove_dir_all(&temporary).with_context(|| {
                format!(
                    "removing what an earlier run left in {}",
                    temporary.display()
                )
            })?;
        }
        fs::create_dir_all(&temporary)?;
        Ok(Self {
            _lock: lock,
            temporary,
        })
    }

    /// A path for something unfinished. It is renamed to its place when it is complete; if we
    /// are killed before, the next holder of the lock removes it.
    pub fn unfinished(&self, name: &str) -> PathBuf {
        self.temporary.join(name)
    }
}
