// SPDX-License-Identifier: MIT OR Apache-2.0
//! PMCCNTR_EL0, through perf: readable in user space, or running on a CPU whatever it does.

use std::fs;
use std::io::{Error, Result};
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;

use donjon_guests::perf::{self, Attributes, CYCLES, HARDWARE, Scope};

const FLAG_PINNED: u64 = 1 << 2;
/// `config1` of the Arm PMU driver: a 64-bit counter, readable in user space.
const LONG_AND_USER_READABLE: u64 = 0b11;

/// A running cycle counter of this thread.
pub struct CycleCounter {
    _event: OwnedFd,
    page: *mut libc::c_void,
}

const PAGE: usize = 4096;

/// The cycle counter of CPU 0 runs, whatever the CPU does, until this is dropped.
pub struct CpuCounter {
    _event: OwnedFd,
}

impl CpuCounter {
    /// Starts the counter.
    pub fn start() -> Result<Self> {
        let attributes = Attributes {
            kind: HARDWARE,
            config: CYCLES,
            flags: FLAG_PINNED,
            ..Attributes::default()
        };
        Ok(Self {
            _event: perf::open(attributes, Scope::Cpu(0))?,
        })
    }
}

impl CycleCounter {
    /// Starts the counter, for user and kernel mode.
    pub fn open() -> Result<Self> {
        fs::write("/proc/sys/kernel/perf_user_access", "1")?;
        let attributes = Attributes {
            kind: HARDWARE,
            config: CYCLES,
            flags: FLAG_PINNED,
            config1: LONG_AND_USER_READABLE,
            ..Attributes::default()
        };
        let event = perf::open(attributes, Scope::ThisThread)?;
        // Linux enables user access while the event is mapped.
        // SAFETY: a new mapping at an address of the kernel's choice.
        let page = unsafe {
            libc::mmap(
                ptr::null_mut(),
                PAGE,
                libc::PROT_READ,
                libc::MAP_SHARED,
                event.as_raw_fd(),
                0,
            )
        };
        if page == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        Ok(Self {
            _event: event,
            page,
        })
    }
}

impl Drop for CycleCounter {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `open` and nothing refers to it.
        unsafe { libc::munmap(self.page, PAGE) };
    }
}
