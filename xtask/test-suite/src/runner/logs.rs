// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is kept of a test that failed, and of its repetition: the reason, and the consoles of its
//! guests as they came.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use donjon_machine::paths;
use donjon_machine::qemu::kept_consoles;

/// Where logs go.
pub fn folder() -> PathBuf {
    paths::in_root("target/logs/tests")
}

/// Forgets the consoles of this thread's earlier test.
pub fn begin() {
    drop(kept_consoles());
}

/// Writes a log of this thread's test, and returns its name. A log that cannot be written is no
/// reason to stop.
pub fn keep(folder: &Path, test: &str, number: u32, text: &str) -> Option<PathBuf> {
    let path = path(folder, test, number);
    match write(&path, test, text) {
        Ok(()) => Some(path),
        Err(error) => {
            eprintln!("{} could not be written: {error:#}", path.display());
            None
        }
    }
}

/// A name of its own for each run of a test. Not every system takes a colon in one.
fn path(folder: &Path, test: &str, number: u32) -> PathBuf {
    folder.join(format!("{}-{number}.log", test.replace([':', '/'], ".")))
}

fn write(path: &Path, test: &str, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = fs::File::create(path)?;
    writeln!(file, "{test}\n{text}")?;
    for console in kept_consoles() {
        writeln!(file, "\nconsole {}:", console.display())?;
        file.write_all(&fs::read(&console).unwrap_or_default())?;
    }
    Ok(())
}
