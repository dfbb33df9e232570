// SPDX-License-Identifier: MIT OR Apache-2.0
//! Swap to a file.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::Error;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::disk::Disk;
use super::files;
use crate::child::Child;
use crate::memory::{Mapping, PAGE};

/// A file that is in use for swap.
struct Swap {
    path: PathBuf,
    name: CString,
    _disk: Disk,
}

impl Swap {
    fn on(bytes: usize) -> Result<Self> {
        let disk = Disk::mount()?;
        let path = disk.path("swap");
        let file = File::create(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        // Swap needs every block in its place.
        let zeros = vec![0u8; 1 << 20];
        for at in (0..bytes).step_by(zeros.len()) {
            file.write_all_at(&zeros, at as u64)?;
        }
        // union swap_header (include/linux/swap.h): version and last page behind 1024 bytes for
        // boot sectors, the magic at the end of the page.
        let mut header = [0u8; PAGE];
        header[1024] = 1;
        header[1028..1032].copy_from_slice(&u32::try_from(bytes / PAGE - 1)?.to_le_bytes());
        header[PAGE - 10..].copy_from_slice(b"SWAPSPACE2");
        file.write_all_at(&header, 0)?;
        file.sync_all()?;
        let name = CString::new(path.as_os_str().as_bytes())?;
        // SAFETY: a path that ends with a zero byte.
        let failed = unsafe { libc::swapon(name.as_ptr(), 0) };
        ensure!(failed == 0, "swapon: {}", Error::last_os_error());
        Ok(Self {
            path,
            name,
            _disk: disk,
        })
    }

    /// Stops using it, which brings every page back.
    fn off(&self) -> Result<()> {
        // SAFETY: a path that ends with a zero byte.
        let failed = unsafe { libc::swapoff(self.name.as_ptr()) };
        ensure!(failed == 0, "swapoff: {}", Error::last_os_error());
        Ok(())
    }
}

impl Drop for Swap {
    fn drop(&mut self) {
        let _ = self.off();
        let _ = fs::remove_file(&self.path);
    }
}

fn meminfo(field: &str) -> Result<usize> {
    let text = fs::read_to_string("/proc/meminfo")?;
    let line = text
        .lines()
        .find_map(|it| it.strip_prefix(field)?.strip_prefix(':'));
    let number = line.and_then(|it| it.split_whitespace().next());
    Ok(number
        .with_context(|| format!("no {field} in /proc/meminfo"))?
        .parse::<usize>()?
        << 10)
}

/// Bytes of swap that are in use.
fn used() -> Result<usize> {
    Ok(meminfo("SwapTotal")? - meminfo("SwapFree")?)
}

/// Pages that are sent out come back as they were: by reading, in a child, and by swapoff.
pub fn page_out() -> Result<()> {
    let swap = Swap::on(32 << 20)?;
    let memory = Mapping::anonymous(16 << 20)?;
    for round in 0..3 {
        memory.stamp(round);
        memory.advise(libc::MADV_PAGEOUT)?;
        ensure!(used()? > 0, "no page went out");
        Child::start(|| {
            for page in 0..memory.pages() {
                memory.check_page(page, round)?;
                if page % 3 == 0 {
                    memory.stamp_page(page, 99);
                }
            }
            Ok(())
        })?
        .join()?;
        memory.check(round)?;
    }
    memory.stamp(5);
    memory.advise(libc::MADV_PAGEOUT)?;
    ensure!(used()? > 0, "no swap is in use");
    swap.off()?;
    memory.check(5)
}

/// Private pages of a file that are in swap are given up: what the file has is there again.
pub fn given_up() -> Result<()> {
    let swap = Swap::on(32 << 20)?;
    let path = Path::new("/tmp/load-given-up");
    let bytes: usize = 8 << 20;
    let file = files::create(path, bytes)?;
    let shared = Mapping::of_file(file.as_fd(), bytes)?;
    shared.stamp(1);
    let private = Mapping::private_of_file(file.as_fd(), bytes)?;
    private.check(1)?;
    private.stamp(2);
    private.advise(libc::MADV_PAGEOUT)?;
    ensure!(used()? > 0, "no page went out");
    private.advise(libc::MADV_DONTNEED)?;
    private.check(1)?;
    private.stamp(3);
    private.advise(libc::MADV_PAGEOUT)?;
    file.set_len((bytes / 2) as u64)?;
    file.set_len(bytes as u64)?;
    ensure!(
        private.read((private.pages() - 1) * 512) == 0,
        "what a truncation took is still there"
    );
    swap.off()?;
    for page in 0..private.pages() / 2 {
        private.check_page(page, 3)?;
    }
    Ok(fs::remove_file(path)?)
}

/// More memory than there is. Most of what there is gets locked: looking through all of it for
/// pages to send out is a TLB invalidation on every CPU for each, and takes an emulator minutes.
/// What was written first went out first and is looked for.
pub fn pressure() -> Result<()> {
    const BEYOND: usize = 8 << 20;
    let swap = Swap::on(6 * BEYOND)?;
    // What Linux calls available is an estimate, and a low one.
    let available = meminfo("MemAvailable")? & !(PAGE - 1);
    let locked = Mapping::anonymous(available.saturating_sub(2 * BEYOND).max(PAGE))?;
    locked.lock()?;
    // The estimate was once so low that 48 MiB fitted.
    let bytes = 16 * BEYOND;
    let mut memory = Mapping::reserved(bytes)?;
    for page in 0..memory.pages() {
        memory.stamp_page(page, 1);
        if page % 256 == 0 && used()? >= BEYOND {
            break;
        }
    }
    ensure!(used()? > 0, "{} MiB fitted without swap", bytes >> 20);
    let elsewhere = memory.address() - (1 << 40);
    memory.move_to(elsewhere, 2 * BEYOND)?;
    memory.check(1)?;
    memory.stamp(2);
    swap.off()?;
    memory.check(2)
}
