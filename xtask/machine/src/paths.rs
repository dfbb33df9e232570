// SPDX-License-Identifier: MIT OR Apache-2.0
//! The root of the repository.

use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn root() -> &'static Path {
    // The crate is two levels below the root.
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap_or(Path::new("."))
}

/// A path below the root of the repository.
pub fn in_root(path: impl AsRef<Path>) -> PathBuf {
    root().join(path)
}
