// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that appear whole or not at all.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result};
use tempfile::{Builder, NamedTempFile};

/// The directory of a path.
fn directory(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// A file that goes away unless it is given its name.
pub fn begin(path: &Path) -> Result<NamedTempFile> {
    let directory = directory(path);
    fs::create_dir_all(&directory)
        .with_context(|| format!("creating the directory {}", directory.display()))?;
    Builder::new()
        .prefix(".donjon-")
        .suffix(".unfinished")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(&directory)
        .with_context(|| format!("creating a file in {}", directory.display()))
}

/// Gives the file its name, in place of an older one.
pub fn finish(file: NamedTempFile, path: &Path) -> Result<()> {
    file.as_file().sync_all()?;
    file.persist(path)
        .with_context(|| format!("giving the finished file its name {}", path.display()))?;
    Ok(())
}

/// Writes files to a directory, each of them whole or not at all.
///
/// # Errors
///
/// If a file cannot be written; the message says what to do when there is no room.
pub fn write_files(directory: &Path, files: &[(&str, &[u8])]) -> Result<()> {
    fs::create_dir_all(directory)
        .with_context(|| format!("creating the directory {}", directory.display()))?;
    for (name, content) in files {
        let path = directory.join(name);
        let write = || {
            let mut file = begin(&path)?;
            file.write_all(content)?;
            finish(file, &path)
        };
        write().map_err(|error| explain(error, &path))?;
    }
    Ok(())
}

/// Says what to do when there is no room.
pub fn explain(error: Error, path: &Path) -> Error {
    let is_full = |it: &io::Error| {
        matches!(
            it.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        )
    };
    let full = error
        .chain()
        .any(|it| it.downcast_ref::<io::Error>().is_some_and(is_full));
    if full || format!("{error:#}").contains("No space left on device") {
        return error.context(format!(
            "not enough disk space for {}; make room or choose another place with --out. Nothing \
             was left there",
            path.display()
        ));
    }
    error.context(format!("writing {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_named_however_it_is_reported() {
        let path = Path::new("card.img");
        let by_us = Error::new(io::Error::from(io::ErrorKind::StorageFull)).context("x");
        let by_mke2fs = Error::msg("mke2fs failed: No space left on device while writing");
        for error in [by_us, by_mke2fs] {
            let said = format!("{:#}", explain(error, path));
            for word in ["not enough disk space", "card.img", "--out"] {
                assert!(said.contains(word), "{said}");
            }
        }
        let other = explain(Error::msg("the moon"), path);
        assert!(!format!("{other:#}").contains("disk space"));
    }

    #[test]
    fn what_is_not_finished_goes_away() {
        let directory = tempfile::tempdir().expect("directory");
        let path = directory.path().join("new/file");
        drop(begin(&path).expect("file"));
        let left = fs::read_dir(directory.path().join("new")).expect("directory");
        assert_eq!(left.count(), 0);
    }
}
