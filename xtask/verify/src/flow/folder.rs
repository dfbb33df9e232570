// SPDX-License-Identifier: MIT OR Apache-2.0
//! The files of a run. Each is limited before it is read, as the host chose them.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use donjon_abi::flow::MESSAGE;

/// Name of the file with the token.
pub const TOKEN: &str = "token";
/// Name of the file with the transcript.
pub const TRANSCRIPT: &str = "transcript";
/// Name of the file with the words of the log.
pub const LOG: &str = "log";

/// Most segments of a run.
pub const SEGMENTS_MAX: u64 = 1 << 20;
/// Most bytes of a transcript: a start, segments and an end.
const TRANSCRIPT_MAX: u64 = (SEGMENTS_MAX + 2) * MESSAGE as u64;

/// What a host kept of a run, the token left out.
pub struct Folder {
    /// Bytes of the transcript.
    pub transcript: Vec<u8>,
    /// The log. Nothing of it has been read yet.
    pub log: File,
    /// Bytes of the log.
    pub log_bytes: u64,
}

impl Folder {
    /// Opens the transcript and the log of a run.
    ///
    /// # Errors
    ///
    /// If a file is missing, cannot be read or is larger than that of any run.
    pub fn open(folder: &Path) -> Result<Self> {
        let transcript = read(&folder.join(TRANSCRIPT), TRANSCRIPT_MAX)?;
        let (log, log_bytes) = open(&folder.join(LOG))?;
        Ok(Self {
            transcript,
            log,
            log_bytes,
        })
    }
}

/// Reads a file with a bound on its size.
///
/// # Errors
///
/// If it is missing, is no ordinary file, cannot be read, or has more than `most` bytes.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    let (file, size) = open(path)?;
    let name = path.display();
    ensure!(
        size <= most,
        "{name} has {size} bytes, and {most} are the most"
    );
    let mut bytes = Vec::new();
    let read = file.take(most + 1).read_to_end(&mut bytes);
    read.with_context(|| format!("reading {name}"))?;
    ensure!(
        bytes.len() as u64 <= most,
        "{name} has more than {most} bytes"
    );
    Ok(bytes)
}

/// Opens an ordinary file; the file and its bytes. Opening a pipe would wait for a writer.
fn open(path: &Path) -> Result<(File, u64)> {
    let name = path.display();
    let about = fs::metadata(path).with_context(|| format!("opening {name}"))?;
    ensure!(about.is_file(), "{name} is no ordinary file");
    let file = File::open(path).with_context(|| format!("opening {name}"))?;
    let size = file
        .metadata()
        .with_context(|| format!("opening {name}"))?
        .len();
    Ok((file, size))
}
