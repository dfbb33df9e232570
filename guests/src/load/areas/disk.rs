// SPDX-License-Identifier: MIT OR Apache-2.0
//! The virtio disk with ext4.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use nix::mount::{MntFlags, MsFlags, mount, umount2};

use super::files;
use crate::child::skip;
use crate::memory::{Mapping, PAGE};

const DEVICE: &str = "/dev/vda";
const PLACE: &str = "/mnt";
const BYTES: usize = 8 << 20;

/// The mounted disk.
pub struct Disk;

impl Disk {
    /// Mounts the disk.
    pub fn mount() -> Result<Self> {
        if !Path::new(DEVICE).exists() {
            return Err(skip("no disk /dev/vda"));
        }
        mount(
            Some(DEVICE),
            PLACE,
            Some("ext4"),
            MsFlags::empty(),
            None::<&str>,
        )
        .context("mounting the disk")?;
        Ok(Self)
    }

    /// A path on it.
    pub fn path(&self, name: &str) -> PathBuf {
        Path::new(PLACE).join(name)
    }

    fn unmount(self) -> Result<()> {
        std::mem::forget(self);
        umount2(PLACE, MntFlags::empty()).context("unmounting the disk")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // After a failure something may still use it.
        let _ = umount2(PLACE, MntFlags::MNT_DETACH);
    }
}

/// Writes, reads and maps a file; the contents survive dropped caches and a new mount.
pub fn ext4() -> Result<()> {
    let disk = Disk::mount()?;
    let path = disk.path("load");
    files::mapped_both_ways(&path, BYTES)?;
    {
        let file = OpenOptions::new().read(true).write(true).open(&path)?;
        Mapping::of_file(file.as_fd(), BYTES)?.stamp(8);
        file.sync_all()?;
    }
    for round in 0..2 {
        fs::write("/proc/sys/vm/drop_caches", "3")?;
        let file = File::open(&path)?;
        Mapping::private_of_file(file.as_fd(), BYTES)?
            .check(8)
            .with_context(|| format!("after dropping caches, round {round}"))?;
    }
    disk.unmount()?;
    let disk = Disk::mount()?;
    let file = File::open(&path)?;
    let memory = Mapping::private_of_file(file.as_fd(), BYTES)?;
    memory.check(8).context("after a new mount")?;
    past_the_cache(&path, &memory)?;
    drop((memory, file));
    fs::remove_file(&path)?;
    disk.unmount()
}

/// What the device itself delivers is what the mapping shows.
fn past_the_cache(path: &Path, memory: &Mapping) -> Result<()> {
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_DIRECT)
        .open(path)?;
    let buffer = Mapping::anonymous(PAGE)?;
    for page in (0..memory.pages()).step_by(17) {
        file.seek(SeekFrom::Start((page * PAGE) as u64))?;
        // SAFETY: a page of ours that nothing else refers to.
        let bytes = unsafe { std::slice::from_raw_parts_mut(buffer.pointer(), PAGE) };
        file.read_exact(bytes)?;
        for word in 0..512 {
            ensure!(
                buffer.read(word) == memory.read(page * 512 + word),
                "word {word} of page {page} differs on the device"
            );
        }
    }
    Ok(())
}
