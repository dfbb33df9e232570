// SPDX-License-Identifier: MIT OR Apache-2.0
//! userfaultfd: another thread handles page faults.

use std::fs::File;
use std::io::{Error, Read};
use std::os::fd::{AsRawFd, FromRawFd};
use std::thread;

use anyhow::{Context, Result, anyhow, ensure};

use crate::memory::{Mapping, PAGE};

/// `struct uffdio_api` (include/uapi/linux/userfaultfd.h).
#[repr(C)]
struct Api {
    api: u64,
    features: u64,
    ioctls: u64,
}

/// `struct uffdio_register`.
#[repr(C)]
struct Register {
    start: u64,
    length: u64,
    mode: u64,
    ioctls: u64,
}

/// `struct uffdio_copy`.
#[repr(C)]
struct Copy {
    to: u64,
    from: u64,
    length: u64,
    mode: u64,
    copied: i64,
}

/// `struct uffdio_writeprotect`.
#[repr(C)]
struct WriteProtect {
    start: u64,
    length: u64,
    mode: u64,
}

const API: u64 = 0xaa;
const FEATURE_WRITE_PROTECT: u64 = 1;
const MODE_MISSING: u64 = 1;
const MODE_WRITE_PROTECT: u64 = 2;
/// Bytes of `struct uffd_msg`, and where the flags and the address of a fault are.
const MESSAGE: usize = 32;
const MESSAGE_FLAGS: usize = 8;
const MESSAGE_ADDRESS: usize = 16;
const FLAG_WRITE_PROTECT: u64 = 2;

/// `_IOWR(0xaa, number, size)`.
const fn request(number: u32, size: usize) -> u32 {
    3 << 30 | (size as u32) << 16 | 0xaa << 8 | number
}

/// A userfaultfd over one mapping.
struct Faults(File);

impl Faults {
    fn over(memory: &Mapping, features: u64, mode: u64) -> Result<Self> {
        // SAFETY: takes flags alone.
        let number = unsafe { libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC) };
        ensure!(number >= 0, "userfaultfd: {}", Error::last_os_error());
        // SAFETY: the call returned a new descriptor, which has no other owner.
        let faults = Self(unsafe { File::from_raw_fd(number as i32) });
        let mut api = Api {
            api: API,
            features,
            ioctls: 0,
        };
        faults.ask(0x3f, &mut api).context("UFFDIO_API")?;
        let mut register = Register {
            start: memory.address() as u64,
            length: memory.bytes() as u64,
            mode,
            ioctls: 0,
        };
        faults.ask(0, &mut register).context("UFFDIO_REGISTER")?;
        Ok(faults)
    }

    fn ask<T>(&self, number: u32, argument: &mut T) -> Result<()> {
        let request = request(number, size_of::<T>()).cast_signed();
        // SAFETY: the structure that the request names, of the size that it names.
        let failed = unsafe { libc::ioctl(self.0.as_raw_fd(), request, argument) };
        ensure!(failed == 0, "{}", Error::last_os_error());
        Ok(())
    }

    /// The flags and the page address of the next fault.
    fn next(&self) -> Result<(u64, u64)> {
        let mut message = [0u8; MESSAGE];
        (&self.0).read_exact(&mut message)?;
        let field =
            |at: usize| u64::from_le_bytes(message[at..at + 8].try_into().unwrap_or([0; 8]));
        let page = field(MESSAGE_ADDRESS) & !(PAGE as u64 - 1);
        Ok((field(MESSAGE_FLAGS), page))
    }

    fn write_protect(&self, start: u64, length: u64, on: bool) -> Result<()> {
        let mut argument = WriteProtect {
            start,
            length,
            mode: u64::from(on),
        };
        self.ask(6, &mut argument).context("UFFDIO_WRITEPROTECT")
    }
}

/// Every missing page is filled by the other thread.
pub fn missing() -> Result<()> {
    /// Pages that fault; each costs a scheduler's tick or two.
    const PAGES: usize = 300;
    let memory = Mapping::anonymous(PAGES * PAGE)?;
    let source = Mapping::anonymous(PAGES * PAGE)?;
    source.stamp(3);
    let faults = Faults::over(&memory, 0, MODE_MISSING)?;
    thread::scope(|scope| {
        let server = scope.spawn(|| {
            for _ in 0..PAGES {
                let (_, page) = faults.next()?;
                let offset = page - memory.address() as u64;
                let mut copy = Copy {
                    to: page,
                    from: source.address() as u64 + offset,
                    length: PAGE as u64,
                    mode: 0,
                    copied: 0,
                };
                faults.ask(3, &mut copy).context("UFFDIO_COPY")?;
            }
            anyhow::Ok(())
        });
        memory.check(3)?;
        server.join().map_err(|_| anyhow!("the server panicked"))?
    })
}

/// Every write to a protected page is announced once, and reads are not.
pub fn write_protection() -> Result<()> {
    /// More pages than one table maps. Each costs a scheduler's tick or two.
    const PAGES: usize = 640;
    let memory = Mapping::anonymous(PAGES * PAGE)?;
    memory.stamp(1);
    let faults = Faults::over(&memory, FEATURE_WRITE_PROTECT, MODE_WRITE_PROTECT)?;
    let (start, length) = (memory.address() as u64, memory.bytes() as u64);
    for round in 2..4 {
        faults.write_protect(start, length, true)?;
        thread::scope(|scope| {
            let server = scope.spawn(|| {
                for _ in 0..PAGES {
                    let (flags, page) = faults.next()?;
                    ensure!(
                        flags & FLAG_WRITE_PROTECT != 0,
                        "a fault with flags {flags:#x}"
                    );
                    faults.write_protect(page, PAGE as u64, false)?;
                }
                anyhow::Ok(())
            });
            memory.check(round - 1)?;
            memory.stamp(round);
            memory.check(round)?;
            server.join().map_err(|_| anyhow!("the server panicked"))?
        })?;
    }
    Ok(())
}
