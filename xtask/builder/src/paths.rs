// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where things are: the repository and the cache.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use nix::fcntl::{Flock, FlockArg};

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
    _lock: Flock<File>,
    temporary: PathBuf,
}

impl CacheLock {
    /// Waits for other commands, then clears what killed ones left behind.
    pub fn take() -> Result<Self> {
        Self::take_in(&cache()?)
    }

    /// The same for a directory of the cache that has a lock of its own: what is made there takes
    /// minutes, and uses what the other lock guards.
    pub fn take_in(cache: &Path) -> Result<Self> {
        fs::create_dir_all(cache)?;
        let open = || File::create(cache.join("lock")).context("creating the lock of the cache");
        let lock = match Flock::lock(open()?, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => lock,
            Err(_) => {
                eprintln!("waiting for another `cargo xtask` that is building …");
                Flock::lock(open()?, FlockArg::LockExclusive)
                    .map_err(|(_, errno)| errno)
                    .context("locking the cache")?
            }
        };
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
