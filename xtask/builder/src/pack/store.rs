// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where boot images are kept: under a name of what they contain.
//!
//! A command packs an image once and may boot it for hours. Meanwhile another command may pack
//! another kernel for the same mode, and must not replace what the first one boots.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use donjon_figures::store;
use sha2::{Digest, Sha256};

use crate::paths;

/// Directory of the images, beside the links.
const DIRECTORY: &str = "images";
/// An image that was packed so long ago is removed. No command runs longer.
const LIFE: Duration = Duration::from_secs(24 * 60 * 60);

/// Keeps `image` and lets the link `newest` lead to it; returns where it is.
///
/// # Errors
///
/// If a file or the link cannot be written.
pub fn keep(image: &[u8], newest: &Path) -> Result<PathBuf> {
    let place = newest.with_file_name(DIRECTORY);
    let name = format!("{}.img", paths::digest_name(&Sha256::digest(image)));
    let path = place.join(&name);
    let write = || {
        fs::create_dir_all(&place)?;
        // Two commands that write the same file would take it from each other.
        let lock = File::create(place.join("lock"))?;
        lock.lock()?;
        // An image that is there is whole: only its time is new.
        if path.is_file() {
            File::open(&path)?.set_modified(SystemTime::now())?;
        } else {
            store::write(&path, image)?;
        }
        link(&Path::new(DIRECTORY).join(&name), newest)?;
        prune(&place);
        anyhow::Ok(())
    };
    write().with_context(|| format!("writing the boot image {}", path.display()))?;
    Ok(path)
}

/// Replaces a link, so that a reader sees the old one or the new one.
fn link(to: &Path, link: &Path) -> io::Result<()> {
    let unfinished = store::unfinished(link);
    let _ = fs::remove_file(&unfinished);
    symlink(to, &unfinished)?;
    fs::rename(&unfinished, link)
}

/// Removes old images. Whatever stays costs space, nothing else.
fn prune(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let path = entry.path();
        let packed = entry.metadata().and_then(|it| it.modified());
        let age = packed.ok().and_then(|it| it.elapsed().ok());
        if path.extension() == Some(OsStr::new("img")) && age.is_some_and(|it| it > LIFE) {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests;
