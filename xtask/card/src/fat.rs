// SPDX-License-Identifier: MIT OR Apache-2.0
//! The boot partition: a FAT32 whose files all have the first moment of its calendar, 1 January
//! 1980, as their time.

use std::io::{Read, Seek, Write};

use anyhow::{Context, Result};
use fatfs::{
    Date, DateTime, FatType, FileSystem, FormatVolumeOptions, FsOptions, Time, TimeProvider,
};

/// Bytes of a cluster. With fewer than 65,525 clusters it would not be a FAT32.
const CLUSTER: u32 = 1024;
/// Name of the file system, filled with blanks.
const LABEL: [u8; 11] = *b"DONJON     ";

/// A file of the boot partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootFile {
    /// Name, in the root directory.
    pub name: String,
    /// Content.
    pub content: Vec<u8>,
}

impl BootFile {
    /// A file.
    pub fn new(name: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        Self {
            name: name.into(),
            content: content.into(),
        }
    }
}

/// Makes the file system with `files` in the order given.
pub fn write<T: Read + Write + Seek>(mut disk: T, identity: u32, files: &[BootFile]) -> Result<()> {
    let format = FormatVolumeOptions::new()
        .fat_type(FatType::Fat32)
        .bytes_per_cluster(CLUSTER)
        .volume_id(identity)
        .volume_label(LABEL);
    fatfs::format_volume(&mut disk, format).context("making the boot partition")?;
    let system = FileSystem::new(disk, options()).context("opening the boot partition")?;
    for file in files {
        let write = || {
            let mut to = system.root_dir().create_file(&file.name)?;
            to.write_all(&file.content)?;
            to.flush()
        };
        write().with_context(|| format!("writing {} to the boot partition", file.name))?;
    }
    // Counts the free clusters, so that the summary of the file system is true.
    system.stats().context("counting the free clusters")?;
    system.unmount().context("closing the boot partition")
}

/// Reads all files in the root directory.
pub fn read<T: Read + Write + Seek>(disk: T) -> Result<Vec<BootFile>> {
    let system = FileSystem::new(disk, options()).context("opening the boot partition")?;
    let mut files = Vec::new();
    for entry in system.root_dir().iter() {
        let entry = entry.context("reading the boot partition")?;
        if entry.is_file() {
            let mut content = Vec::new();
            entry
                .to_file()
                .read_to_end(&mut content)
                .with_context(|| format!("reading {} of the boot partition", entry.file_name()))?;
            files.push(BootFile::new(entry.file_name(), content));
        }
    }
    Ok(files)
}

fn options() -> FsOptions {
    FsOptions::new()
        .update_accessed_date(false)
        .time_provider(&BEGINNING)
}

/// A clock that stands at the first moment of the calendar of FAT.
#[derive(Debug)]
struct Beginning;

static BEGINNING: Beginning = Beginning;

impl TimeProvider for Beginning {
    fn get_current_date(&self) -> Date {
        Date {
            year: 1980,
            month: 1,
            day: 1,
        }
    }

    fn get_current_date_time(&self) -> DateTime {
        DateTime {
            date: self.get_current_date(),
            time: Time {
                hour: 0,
                min: 0,
                sec: 0,
                millis: 0,
            },
        }
    }
}
