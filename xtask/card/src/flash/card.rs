// SPDX-License-Identifier: MIT OR Apache-2.0
//! A card as a block device of the host.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Error, Result};
use nix::fcntl::{OFlag, PosixFadviseAdvice, posix_fadvise};

use crate::disk::Disk;

/// A card that belongs to us alone: the kernel lets nothing mount it meanwhile.
pub struct Card {
    path: PathBuf,
    file: File,
}

impl Card {
    /// Opens the card to be written.
    ///
    /// # Errors
    ///
    /// Without the right to write to it, or if something uses it.
    pub fn open(disk: &Disk) -> Result<Self> {
        let path = Path::new("/dev").join(&disk.name);
        // On a block device O_EXCL, without O_CREAT, asks for a device that is not in use
        // (open(2)).
        let file = OpenOptions::new()
            .write(true)
            .custom_flags(OFlag::O_EXCL.bits())
            .open(&path)
            .map_err(|error| explain(error, &path))?;
        Ok(Self { path, file })
    }

    /// Waits until all that was written is on the card.
    ///
    /// # Errors
    ///
    /// If the card did not take it.
    pub fn settle(&self) -> io::Result<()> {
        self.file.sync_all()?;
        // What is read afterwards shall come from the card, by whatever way.
        Ok(posix_fadvise(
            &self.file,
            0,
            0,
            PosixFadviseAdvice::POSIX_FADV_DONTNEED,
        )?)
    }

    /// The card to be read, past the host's cache (O_DIRECT). It takes buffers as [`compare`]
    /// has them: whole pages, aligned.
    ///
    /// [`compare`]: super::compare
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub fn reader(&self) -> Result<File> {
        OpenOptions::new()
            .read(true)
            .custom_flags(OFlag::O_DIRECT.bits())
            .open(&self.path)
            .map_err(|error| explain(error, &self.path))
    }
}

impl Write for Card {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn explain(error: io::Error, path: &Path) -> Error {
    let path = path.display();
    let advice = match error.kind() {
        ErrorKind::PermissionDenied => format!(
            "you may not write to {path}; make the image first (`cargo xtask image rpi3`), then \
             give yourself the device until it is taken out, with `sudo chown \"$USER\" {path}`, \
             and run the same command again"
        ),
        ErrorKind::ResourceBusy => format!(
            "something uses {path}; close what shows its files, unmount it, and run the same \
             command again"
        ),
        ErrorKind::ReadOnlyFilesystem => format!(
            "{path} cannot be written: move the small switch at the side of the card or of its \
             adapter away from LOCK"
        ),
        ErrorKind::NotFound => format!("{path} is gone: was the card removed? Put it in again"),
        _ => format!("opening {path}"),
    };
    Error::new(error).context(advice)
}
