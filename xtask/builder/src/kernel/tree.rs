// SPDX-License-Identifier: MIT OR Apache-2.0
//! The one patched tree that all variants of a source are built from.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::source::{self, Origin, Source, Version};
use super::{Recipe, overlay, unpack};
use crate::paths::{self, CacheLock};

/// A patched tree in the cache.
pub struct Tree {
    /// The source tree.
    pub path: PathBuf,
    /// Name of its directories in the cache.
    pub name: String,
    /// Version of Linux.
    pub version: Version,
}

/// Brings the tree of `source` to what `recipe` says.
pub fn prepare(lock: &CacheLock, source: &Source, recipe: &Recipe) -> Result<Tree> {
    let all = paths::cache()?.join("linux");
    fs::create_dir_all(&all)?;
    let place = all.join(&source.name);
    let path = place.join("tree");
    let identity = place.join("identity");
    match &source.origin {
        Origin::Tarball(tarball) => {
            if !place.exists() {
                remove_older(&all)?;
                unpack::check_space(&all)?;
                let unfinished = lock.unfinished("linux");
                unpack::tarball(tarball, &unfinished.join("tree"))?;
                source::check_version(&unfinished.join("tree"))?;
                fs::rename(&unfinished, &place)?;
            }
        }
        Origin::Tree(origin) => {
            if fs::read_to_string(&identity).unwrap_or_default() != source.identity {
                if !place.exists() {
                    unpack::check_space(&all)?;
                }
                overlay::undo(&place)?;
                let _ = fs::remove_file(&identity);
                unpack::tree(origin, &path)?;
                fs::write(&identity, &source.identity)?;
            }
        }
    }
    let version = source::check_version(&path)?;
    overlay::apply(lock, &place, recipe, version).context("patching Linux")?;
    Ok(Tree {
        path,
        name: source.name.clone(),
        version,
    })
}

/// Debian's package was updated: the tree of the old one and its builds are of no use.
fn remove_older(all: &Path) -> Result<()> {
    for directory in [all.to_path_buf(), all.with_file_name("build")] {
        let Ok(entries) = fs::read_dir(directory) else {
            continue;
        };
        for entry in entries {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with("debian-") {
                fs::remove_dir_all(entry.path())?;
            }
        }
    }
    Ok(())
}
