// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that are there as a whole or not at all, and what to do where none can be written.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Error, Result, anyhow};
use donjon_builder::whole;

pub use donjon_builder::whole::unfinished;

/// Writes a file under another name, then renames it.
///
/// # Errors
///
/// If it cannot be written; the message says what to do.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    whole::write(path, bytes).map_err(|error| explain(path, &error))
}

/// Makes a folder, and fails now rather than after hours if nothing can be written there.
///
/// # Errors
///
/// If it cannot be made or written to; the message says what to do.
pub fn make_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|error| explain(path, &error))?;
    write(&path.join("probe"), b"probe\n")?;
    let _ = fs::remove_file(path.join("probe"));
    Ok(())
}

/// Says what to do about an error of writing.
pub fn explain(path: &Path, error: &std::io::Error) -> Error {
    let advice = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "the disk is full: free some space, or name a folder on another disk with --out"
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "name a folder that you may write to with --out"
        }
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            "a file is where a folder has to be: name another folder with --out"
        }
        _ => "name another folder with --out",
    };
    anyhow!("cannot write {}: {error}; {advice}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_unfinished_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.json");
        write(&path, b"{}").expect("written");
        write(&path, b"[]").expect("written again");
        assert_eq!(fs::read(&path).expect("the file"), b"[]");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn an_error_says_what_to_do() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        write(&file, b"").expect("written");
        let error = make_folder(&file.join("below")).expect_err("a file is no folder");
        let said = error.to_string();
        assert!(said.contains("--out"), "{said}");
        let full = explain(&file, &std::io::Error::from(ErrorKind::StorageFull)).to_string();
        assert!(full.contains("free some space"), "{full}");
    }
}
