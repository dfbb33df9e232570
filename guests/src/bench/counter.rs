// SPDX-License-Identifier: MIT OR Apache-2.0
//! PMCCNTR_EL0, through perf: readable in user space, or running on a CPU whatever it does.

use std::fs;
use std::io::{Error, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

/// The beginning of `struct perf_event_attr`, version 1 (include/uapi/linux/perf_event.h).
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
    config2: u64,
}

const KIND_HARDWARE: u32 = 0;
const CPU_CYCLES: u64 = 0;
const FLAG_PINNED: u64 = 1 << 2;
/// `config1` of the Arm PMU driver: a 64-bit counter, readable in user space.
const LONG_AND_USER_READABLE: u64 = 0b11;

/// A running cycle counter of this thread.
pub struct CycleCounter {
    _event: OwnedFd,
    page: *mut libc::c_void,
}

const PAGE: usize = 4096;
const THIS_THREAD: libc::pid_t = 0;
const ALL_THREADS: libc::pid_t = -1;
const ANY_CPU: i32 = -1;

fn open(attributes: &Attributes, thread: libc::pid_t, cpu: i32) -> Result<OwnedFd> {
    let (no_group, no_flags) = (-1, 0);
    // SAFETY: `attributes` is a valid perf_event_attr of the size that it names, and lives
    // through the call.
    let event = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            ptr::from_ref(attributes),
            thread,
            cpu,
            no_group,
            no_flags,
        )
    };
    if event < 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: the call returned a new descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(event as i32) })
}

/// The cycle counter of CPU 0 runs, whatever the CPU does, until this is dropped.
pub struct CpuCounter {
    _event: OwnedFd,
}

impl CpuCounter {
    /// Starts it.
    pub fn start() -> Result<Self> {
        let attributes = Attributes {
            kind: KIND_HARDWARE,
            size: size_of::<Attributes>() as u32,
            config: CPU_CYCLES,
            flags: FLAG_PINNED,
            ..Attributes::default()
        };
        Ok(Self {
            _event: open(&attributes, ALL_THREADS, 0)?,
        })
    }
}

impl CycleCounter {
    /// Starts the counter, for user and kernel mode.
    pub fn open() -> Result<Self> {
        fs::write("/proc/sys/kernel/perf_user_access", "1")?;
        let attributes = Attributes {
            kind: KIND_HARDWARE,
            size: size_of::<Attributes>() as u32,
            config: CPU_CYCLES,
            flags: FLAG_PINNED,
            config1: LONG_AND_USER_READABLE,
            ..Attributes::default()
        };
        let event = open(&attributes, THIS_THREAD, ANY_CPU)?;
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
