// SPDX-License-Identifier: MIT OR Apache-2.0
//! A folder of JSON documents, each with what is known of it.
//!
//! A document is the file `NAME.json`. `NAME.about.json` beside it says where it comes from and has
//! its SHA-256, so that neither a damaged document nor another one is taken for it.

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Held by the run that has the folder for itself.
const LOCK: &str = "lock";
/// Ends the name of a file until it is complete.
const UNFINISHED: &str = "unfinished";

/// What is known of a document.
#[derive(Serialize, Deserialize)]
struct About<A> {
    #[serde(flatten)]
    known: A,
    /// The digest of the document that it is about.
    sha256: String,
}

/// A folder of documents.
pub struct Store {
    folder: PathBuf,
    _lock: Option<File>,
}

impl Store {
    /// Names a folder, which need not be there.
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            _lock: None,
        }
    }

    /// Makes a folder, and fails now rather than after hours if nothing can be written there.
    ///
    /// # Errors
    ///
    /// If it cannot be made or written to; the message says what to do.
    pub fn make(folder: &Path) -> Result<Self> {
        explained(folder, fs::create_dir_all(folder))?;
        let probe = folder.join("probe");
        write(&probe, b"probe\n")?;
        remove(&probe)?;
        Ok(Self::new(folder))
    }

    /// Makes a folder and has it alone as long as the value lives; nothing if another run has it.
    ///
    /// # Errors
    ///
    /// If it cannot be made, written to or locked.
    pub fn lock(folder: &Path) -> Result<Option<Self>> {
        explained(folder, fs::create_dir_all(folder))?;
        let path = folder.join(LOCK);
        let lock = explained(&path, File::create(&path))?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            locked => locked.with_context(|| format!("locking {}", path.display()))?,
        }
        Ok(Some(Self {
            _lock: Some(lock),
            ..Self::new(folder)
        }))
    }

    /// Names the file of a document.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.json"))
    }

    fn about(&self, name: &str) -> PathBuf {
        self.path(&format!("{name}.about"))
    }

    /// Reads a document, and what is known of it: nothing if that is not there, or is about other
    /// bytes. There is no pair if there is no document.
    ///
    /// # Errors
    ///
    /// If the document cannot be read.
    pub fn load<A: DeserializeOwned>(&self, name: &str) -> Result<Option<(Vec<u8>, Option<A>)>> {
        let path = self.path(name);
        let document = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read.with_context(|| format!("reading {}", path.display()))?,
        };
        let about = fs::read(self.about(name)).ok();
        let about: Option<About<A>> = about.and_then(|it| serde_json::from_slice(&it).ok());
        let about = about.filter(|it| it.sha256 == digest(&document));
        Ok(Some((document, about.map(|it| it.known))))
    }

    /// Keeps a document and what is known of it. A run that is killed between the two leaves a
    /// document of which nothing is known.
    ///
    /// # Errors
    ///
    /// If nothing can be written; the message says what to do.
    pub fn keep(&self, name: &str, document: &[u8], known: Option<&impl Serialize>) -> Result<()> {
        if let Some(known) = known {
            let sha256 = digest(document);
            let about = serde_json::to_string_pretty(&About { known, sha256 })? + "\n";
            write(&self.about(name), about.as_bytes())?;
        }
        write(&self.path(name), document)
    }

    /// Removes a document and what is known of it, if they are there.
    ///
    /// # Errors
    ///
    /// If they cannot be removed; the message says what to do.
    pub fn remove(&self, name: &str) -> Result<()> {
        remove(&self.path(name)).and(remove(&self.about(name)))
    }

    /// Removes what was not completed, and each file that is to `go`.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read, or a file cannot be removed.
    pub fn sweep(&self, go: impl Fn(&Metadata) -> bool) -> Result<()> {
        let entries = fs::read_dir(&self.folder);
        let entries = entries.with_context(|| format!("reading {}", self.folder.display()))?;
        for entry in entries.filter_map(Result::ok) {
            let path = entry.path();
            let is_unfinished = path.extension() == Some(OsStr::new(UNFINISHED));
            let goes = entry.file_name() != LOCK && entry.metadata().is_ok_and(|it| go(&it));
            if is_unfinished || goes {
                remove(&path)?;
            }
        }
        Ok(())
    }
}

/// Computes a SHA-256 in hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Writes bytes in hexadecimal.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

/// Writes a file under another name, then renames it. A failure leaves nothing behind, and the file
/// as it was.
///
/// # Errors
///
/// If it cannot be written; the message says what to do.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let unfinished = unfinished(path);
    let written = File::create(&unfinished).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&unfinished, path)
    });
    explained(path, written).inspect_err(|_| {
        let _ = fs::remove_file(&unfinished);
    })
}

/// Names a file that is not complete yet.
pub fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(UNFINISHED);
    PathBuf::from(name)
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed.with_context(|| {
            format!(
                "removing {}, which a later run takes for its own; remove it by hand",
                path.display()
            )
        }),
    }
}

/// Says why nothing can be written, and what to do.
fn explained<T>(path: &Path, written: io::Result<T>) -> Result<T> {
    written.map_err(|error| {
        let advice = match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                "the disk is full: free some space"
            }
            ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
                "a file is where a folder has to be"
            }
            _ => "see whether it may be written to",
        };
        anyhow!("cannot write {}: {error}; {advice}", path.display())
    })
}
