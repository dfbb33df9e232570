// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where things are: the repository and the cache.

use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn root() -> &'static Path {
    // The crate is one level below the root; a manifest directory always has a parent.
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."))
}

/// A path below the root of the repository.
pub fn in_root(path: impl AsRef<Path>) -> PathBuf {
    root().join(path)
}
