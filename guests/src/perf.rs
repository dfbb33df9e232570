// SPDX-License-Identifier: MIT OR Apache-2.0
//! `perf_event_open`: counters of the kernel.

use std::fs::File;
use std::io::{Error, Read, Result};
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr;

/// The beginning of `struct perf_event_attr`, version 1 (include/uapi/linux/perf_event.h). The
/// size is filled in by [`open`].
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Attributes {
    /// [`HARDWARE`] or [`SOFTWARE`].
    pub kind: u32,
    /// Filled in by [`open`].
    pub size: u32,
    /// Which counter of the kind.
    pub config: u64,
    /// Events between two samples; 0 for a counter alone.
    pub sample_period: u64,
    /// What a sample contains.
    pub sample_type: u64,
    /// What reading gives.
    pub read_format: u64,
    /// The bit field behind `read_format`.
    pub flags: u64,
    /// Samples between two wake-ups.
    pub wakeup_events: u32,
    /// Type of a breakpoint.
    pub breakpoint_type: u32,
    /// Meant for the driver of the counter.
    pub config1: u64,
    /// Meant for the driver of the counter.
    pub config2: u64,
}

/// The processor's own counters.
pub const HARDWARE: u32 = 0;
/// The kernel's.
pub const SOFTWARE: u32 = 1;
/// Cycles, of [`HARDWARE`].
pub const CYCLES: u64 = 0;
/// Instructions retired, of [`HARDWARE`].
pub const INSTRUCTIONS: u64 = 1;

/// Whose events are counted.
#[derive(Clone, Copy, Debug)]
pub enum Scope {
    /// The calling thread's, on any CPU.
    ThisThread,
    /// Every event of one CPU.
    Cpu(i32),
}

/// Starts a counter.
///
/// # Errors
///
/// What the system call left.
pub fn open(attributes: Attributes, scope: Scope) -> Result<OwnedFd> {
    let attributes = Attributes {
        size: size_of::<Attributes>() as u32,
        ..attributes
    };
    let (thread, cpu): (libc::pid_t, i32) = match scope {
        Scope::ThisThread => (0, -1),
        Scope::Cpu(cpu) => (-1, cpu),
    };
    let (no_group, no_flags) = (-1, 0);
    // SAFETY: `attributes` is a valid perf_event_attr of the size that it names, and lives
    // through the call.
    let event = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            ptr::from_ref(&attributes),
            thread,
            cpu,
            no_group,
            no_flags,
        )
    };
    if event < 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: the call returned a new descriptor, which has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(event as i32) })
}

/// Instructions that a CPU retires, whoever they are for. Time in which it waits is not among them,
/// as it is among cycles under QEMU's `-icount`.
pub struct Instructions(File);

impl Instructions {
    /// Starts to count the instructions of CPU 0.
    ///
    /// # Errors
    ///
    /// Those of [`open`].
    pub fn of_cpu_0() -> Result<Self> {
        let attributes = Attributes {
            kind: HARDWARE,
            config: INSTRUCTIONS,
            ..Attributes::default()
        };
        open(attributes, Scope::Cpu(0)).map(|it| Self(File::from(it)))
    }

    /// How many there are so far.
    ///
    /// # Errors
    ///
    /// What the system call left.
    pub fn read(&mut self) -> Result<u64> {
        let mut bytes = [0; 8];
        self.0.read_exact(&mut bytes)?;
        Ok(u64::from_ne_bytes(bytes))
    }
}
