// SPDX-License-Identifier: MIT OR Apache-2.0
//! The image of a card: a partition table, the boot partition, the root partition.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use fscommon::StreamSlice;
use sha2::{Digest, Sha256};

use crate::rpi3::{self, BootFile, Parts};
use crate::{fat, layout, output, root};

/// Bytes that are copied at a time.
const PIECE: usize = 1 << 20;

/// Writes the image `to`. Equal parts give equal bytes.
///
/// # Errors
///
/// If the parts do not fit, mke2fs fails, or there is no room; then there is no file `to`, or the
/// old one.
pub fn write(parts: &Parts, to: &Path) -> Result<()> {
    write_to(parts, to).map_err(|error| output::explain(error, to))
}

fn write_to(parts: &Parts, to: &Path) -> Result<()> {
    let mut files = parts.boot_files();
    let room = layout::BOOT.end - layout::BOOT.start;
    let needed: u64 = files.iter().map(|it| it.content.len() as u64).sum();
    // The tables of a FAT take less than a sixteenth of it.
    ensure!(
        needed < room / 16 * 15,
        "the boot partition has {room} bytes, and its files need {needed}: make the boot image \
         smaller"
    );
    let identity = Identity::of(&files, &parts.root);
    let partuuid = layout::partuuid(identity.signature, 2);
    files.push(BootFile::new(
        rpi3::COMMAND_LINE,
        rpi3::command_line(&partuuid),
    ));

    let mut unfinished = output::begin(to)?;
    let image = unfinished.as_file_mut();
    image.set_len(layout::SIZE)?;
    layout::write(image, identity.signature)?;
    fat::write(slice(&*image, &layout::BOOT)?, identity.volume, &files)?;
    let work = tempfile::tempdir().context("creating a temporary directory")?;
    let system = work.path().join("root.ext4");
    let size = layout::ROOT.end - layout::ROOT.start;
    root::write(&system, size, &identity.uuid, &parts.root, work.path())?;
    image.seek(SeekFrom::Start(layout::ROOT.start))?;
    copy_but_zeros(&mut File::open(&system)?, image)?;
    output::finish(unfinished, to)
}

/// Numbers that tell one card from another, made from what is on it.
struct Identity {
    signature: [u8; 4],
    volume: u32,
    uuid: String,
}

impl Identity {
    fn of(files: &[BootFile], root: &[u8]) -> Self {
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        for file in files {
            add(file.name.as_bytes());
            add(&file.content);
        }
        add(root);
        let mut bytes: [u8; 32] = hash.finalize().into();
        // Linux takes a signature of zeros for none.
        bytes[0] |= 1;
        // Version 8, variant 10 of RFC 9562: made by a rule of our own.
        bytes[8 + 6] = bytes[8 + 6] & 0x0f | 0x80;
        bytes[8 + 8] = bytes[8 + 8] & 0x3f | 0x80;
        let hex: String = bytes[8..24].iter().map(|it| format!("{it:02x}")).collect();
        Self {
            signature: [bytes[0], bytes[1], bytes[2], bytes[3]],
            volume: u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
            uuid: [
                &hex[..8],
                &hex[8..12],
                &hex[12..16],
                &hex[16..20],
                &hex[20..],
            ]
            .join("-"),
        }
    }
}

fn slice<T: Read + Write + Seek>(disk: T, bytes: &Range<u64>) -> Result<StreamSlice<T>> {
    Ok(StreamSlice::new(disk, bytes.start, bytes.end)?)
}

/// Copies to a file that is zeros, and leaves its zeros where there are zeros.
fn copy_but_zeros(from: &mut impl Read, to: &mut (impl Write + Seek)) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        let length = from.read(&mut piece)?;
        match &piece[..length] {
            [] => return Ok(()),
            zeros if zeros.iter().all(|it| *it == 0) => {
                to.seek(SeekFrom::Current(length as i64))?;
            }
            bytes => to.write_all(bytes)?,
        }
    }
}

/// An image as it is read back.
pub struct Image {
    path: PathBuf,
    table: layout::Table,
    /// Files of the boot partition.
    pub files: Vec<BootFile>,
}

impl Image {
    /// Reads partition table and boot partition.
    ///
    /// # Errors
    ///
    /// If it is no image that [`write()`] made.
    pub fn read(path: &Path) -> Result<Self> {
        let read = || {
            // The library asks for the right to write, and does not use it.
            let mut disk = OpenOptions::new().read(true).write(true).open(path)?;
            let table = layout::read(&mut disk)?;
            let files = fat::read(slice(&disk, &table.boot)?)?;
            anyhow::Ok((table, files))
        };
        let (table, files) =
            read().with_context(|| format!("reading the image {}", path.display()))?;
        Ok(Self {
            path: path.to_path_buf(),
            table,
            files,
        })
    }

    /// Content of a file of the boot partition.
    ///
    /// # Errors
    ///
    /// If it has no such file.
    pub fn file(&self, name: &str) -> Result<&[u8]> {
        let file = self.files.iter().find(|it| it.name == name);
        file.map(|it| it.content.as_slice())
            .with_context(|| format!("the boot partition has no {name}"))
    }

    /// Linux's command line without its end of line.
    ///
    /// # Errors
    ///
    /// If there is none, or it is not text.
    pub fn command_line(&self) -> Result<&str> {
        Ok(str::from_utf8(self.file(rpi3::COMMAND_LINE)?)?.trim_end())
    }

    /// Linux's name for partition `number`.
    pub fn partuuid(&self, number: u32) -> String {
        layout::partuuid(self.table.signature, number)
    }

    /// Copies the boot and the root partition to files of their own in `directory`.
    ///
    /// # Errors
    ///
    /// If the image cannot be read or the files cannot be written.
    pub fn split(&self, directory: &Path) -> Result<[PathBuf; 2]> {
        let copy = |name: &str, bytes: &Range<u64>| -> Result<PathBuf> {
            let place = directory.join(name);
            let mut image = File::open(&self.path)?;
            image.seek(SeekFrom::Start(bytes.start))?;
            let length = bytes.end - bytes.start;
            let mut to = File::create(&place)?;
            to.set_len(length)?;
            copy_but_zeros(&mut image.take(length), &mut to)?;
            Ok(place)
        };
        Ok([
            copy("boot.fat", &self.table.boot)?,
            copy("root.ext4", &self.table.root)?,
        ])
    }

    /// Writes each file of the boot partition to `directory`, for a machine that starts from
    /// files.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn extract(&self, directory: &Path) -> Result<()> {
        for file in &self.files {
            std::fs::write(directory.join(&file.name), &file.content)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
