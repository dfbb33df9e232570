// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shared memory.

use std::fs::File;
use std::io::Error;
use std::os::fd::{AsFd, AsRawFd, FromRawFd};
use std::ptr;

use anyhow::{Result, ensure};

use crate::child::Child;
use crate::memory::Mapping;

const BYTES: usize = 2 << 20;

/// System V segments, attached in several processes, one of them read-only.
pub fn system_v() -> Result<()> {
    // SAFETY: a new segment.
    let segment = unsafe { libc::shmget(libc::IPC_PRIVATE, BYTES, libc::IPC_CREAT | 0o600) };
    ensure!(segment >= 0, "shmget: {}", Error::last_os_error());
    let result = attached(segment);
    // SAFETY: ours; it goes when the last process detaches it.
    unsafe { libc::shmctl(segment, libc::IPC_RMID, ptr::null_mut()) };
    result
}

fn attached(segment: i32) -> Result<()> {
    let attach = |flags| {
        // SAFETY: a new mapping at an address of the kernel's choice.
        let place = unsafe { libc::shmat(segment, ptr::null(), flags) };
        ensure!(
            place.addr() != usize::MAX,
            "shmat: {}",
            Error::last_os_error()
        );
        Ok(place.cast::<u64>())
    };
    let (writable, readable) = (attach(0)?, attach(libc::SHM_RDONLY)?);
    for page in 0..BYTES / 4096 {
        // SAFETY: inside the segment, which is attached twice.
        unsafe {
            writable
                .add(page * 512)
                .write_volatile(page as u64 ^ 0x5a5a)
        };
    }
    Child::start(|| {
        for page in 0..BYTES / 4096 {
            // SAFETY: inside the segment, which is attached twice; a child inherits both.
            let found = unsafe { readable.add(page * 512).read_volatile() };
            ensure!(found == page as u64 ^ 0x5a5a, "page {page} is {found:#x}");
            // SAFETY: inside the segment, whose writable attachment the child has inherited.
            unsafe { writable.add(page * 512).write_volatile(page as u64) };
        }
        Ok(())
    })?
    .join()?;
    for page in 0..BYTES / 4096 {
        // SAFETY: inside the segment, which is still attached.
        let found = unsafe { readable.add(page * 512).read_volatile() };
        ensure!(found == page as u64, "page {page} is {found:#x}");
    }
    for place in [writable, readable] {
        // SAFETY: attached above and not used any more.
        let failed = unsafe { libc::shmdt(place.cast()) };
        ensure!(failed == 0, "shmdt: {}", Error::last_os_error());
    }
    Ok(())
}

/// A file without a name, passed to children, with holes and seals.
pub fn memfd() -> Result<()> {
    // SAFETY: the name is a constant.
    let number = unsafe { libc::memfd_create(c"load".as_ptr(), libc::MFD_ALLOW_SEALING) };
    ensure!(number >= 0, "memfd_create: {}", Error::last_os_error());
    // SAFETY: the call returned a new descriptor, which has no other owner.
    let file = unsafe { File::from_raw_fd(number) };
    file.set_len(BYTES as u64)?;
    let mapping = Mapping::of_file(file.as_fd(), BYTES)?;
    for round in 0..8 {
        mapping.stamp(round);
        Child::start(|| {
            mapping.check(round)?;
            Mapping::of_file(file.as_fd(), BYTES)?.stamp(round + 100);
            Ok(())
        })?
        .join()?;
        mapping.check(round + 100)?;
    }
    mapping.advise(libc::MADV_REMOVE)?;
    ensure!(
        (0..BYTES / 8)
            .step_by(512)
            .all(|word| mapping.read(word) == 0),
        "a hole has contents"
    );
    drop(mapping);
    // SAFETY: fcntl with a number.
    let failed = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_WRITE) };
    ensure!(failed == 0, "F_ADD_SEALS: {}", Error::last_os_error());
    ensure!(
        Mapping::of_file(file.as_fd(), BYTES).is_err(),
        "a sealed file was mapped for writing"
    );
    Mapping::private_of_file(file.as_fd(), BYTES)?.stamp(1);
    Ok(())
}
