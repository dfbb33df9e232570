// SPDX-License-Identifier: MIT OR Apache-2.0
//! File mappings.

use std::fs::{self, File, OpenOptions};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use anyhow::{Result, ensure};
use nix::sys::signal::Signal;

use crate::child::Child;
use crate::memory::{Mapping, PAGE};

const BYTES: usize = 4 << 20;

/// A file of `bytes` zero bytes.
pub fn create(path: &Path, bytes: usize) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(true);
    let file = options.open(path)?;
    file.set_len(bytes as u64)?;
    Ok(file)
}

/// Shared and private mappings of one file against each other and against read and write.
pub fn mappings() -> Result<()> {
    let path = Path::new("/tmp/load-mappings");
    mapped_both_ways(path, BYTES)?;
    Ok(fs::remove_file(path)?)
}

/// Maps a file shared, shared again and private, and checks what each mapping sees; for any file
/// system.
pub fn mapped_both_ways(path: &Path, bytes: usize) -> Result<()> {
    let file = create(path, bytes)?;
    let shared = Mapping::of_file(file.as_fd(), bytes)?;
    let again = Mapping::of_file(file.as_fd(), bytes)?;
    let private = Mapping::private_of_file(file.as_fd(), bytes)?;
    shared.stamp(1);
    again.check(1)?;
    private.check(1)?;
    // Its own copies from here on.
    private.stamp(2);
    shared.check(1)?;
    private.check(2)?;

    let mut page = [0u8; PAGE];
    for number in 0..bytes / PAGE {
        file.read_exact_at(&mut page, (number * PAGE) as u64)?;
        let word = u64::from_le_bytes(page[..8].try_into()?);
        ensure!(word == shared.read(number * 512), "read of page {number}");
    }
    file.write_all_at(&7u64.to_le_bytes(), 5 * PAGE as u64)?;
    ensure!(
        again.read(5 * 512) == 7,
        "a write is not seen in the mapping"
    );
    shared.stamp_page(5, 1);
    Child::start(|| {
        shared.check(1)?;
        private.check(2)?;
        shared.stamp(3);
        private.stamp(4);
        Ok(())
    })?
    .join()?;
    again.check(3)?;
    private.check(2)?;
    file.sync_all()?;
    Ok(())
}

/// Pages that a truncation takes away are gone from every mapping.
pub fn truncation() -> Result<()> {
    let path = Path::new("/tmp/load-truncation");
    let file = create(path, BYTES)?;
    let shared = Mapping::of_file(file.as_fd(), BYTES)?;
    let private = Mapping::private_of_file(file.as_fd(), BYTES)?;
    shared.stamp(1);
    private.check(1)?;
    private.stamp(2);
    file.set_len((BYTES / 2) as u64)?;
    let beyond = BYTES / 8 - 1;
    for mapping in [&shared, &private] {
        mapping.check_page(
            0,
            if std::ptr::eq(mapping, &private) {
                2
            } else {
                1
            },
        )?;
        Child::start(|| {
            mapping.read(beyond);
            Ok(())
        })?
        .join_killed_by(Signal::SIGBUS)?;
    }
    file.set_len(BYTES as u64)?;
    ensure!(shared.read(beyond) == 0, "old contents came back");
    Ok(fs::remove_file(path)?)
}
