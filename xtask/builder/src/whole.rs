// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that are there as a whole or not at all.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Ends the name of a file until it is complete.
const UNFINISHED: &str = "unfinished";

/// Writes a file under another name, then renames it. A failure leaves nothing behind, and the
/// file as it was.
///
/// # Errors
///
/// If it cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let unfinished = unfinished(path);
    let result = File::create(&unfinished).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&unfinished, path)
    });
    result.inspect_err(|_| {
        let _ = fs::remove_file(&unfinished);
    })
}

/// The name of a file until it is complete.
pub fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(UNFINISHED);
    PathBuf::from(name)
}

/// Whether this is the name of a file that was not completed.
pub fn is_unfinished(path: &Path) -> bool {
    path.extension() == Some(OsStr::new(UNFINISHED))
}
