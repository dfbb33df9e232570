// SPDX-License-Identifier: MIT OR Apache-2.0
//! A result's file, which appears whole or not at all, and never in place of another one.

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use tempfile::Builder;

/// Checks that a file is not there yet.
///
/// # Errors
///
/// If something has that name.
pub fn is_free(path: &Path) -> Result<()> {
    ensure!(
        path.symlink_metadata().is_err(),
        "{} is there already: remove it or name another file, so that an old result is never taken \
         for this one",
        path.display()
    );
    Ok(())
}

/// Writes a new file.
///
/// # Errors
///
/// If something has that name, or it cannot be written; then nothing was left.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let writing = || format!("writing {}", path.display());
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut file = Builder::new()
        .prefix(".donjon-")
        .suffix(".unfinished")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)
        .with_context(writing)?;
    file.write_all(bytes).with_context(writing)?;
    file.as_file().sync_all().with_context(writing)?;
    file.persist_noclobber(path).with_context(writing)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_written_once_and_whole() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("result");
        is_free(&path).expect("it is not there");
        write(&path, b"one").expect("written");
        is_free(&path).expect_err("it is there");
        write(&path, b"two").expect_err("it is there");
        assert_eq!(fs::read(&path).expect("a file"), b"one");
        assert_eq!(fs::read_dir(place.path()).expect("a folder").count(), 1);
        write(&place.path().join("none/result"), b"one").expect_err("there is no folder");
    }
}
