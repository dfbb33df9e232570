// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long the boot took, written down by the first process.
//!
//! Under `-icount shift=0` QEMU's virtual counter advances with instructions from reset on, and in
//! time in which the CPU waits. Linux knows how long it waited.

use std::arch::asm;
use std::convert::Infallible;
use std::ffi::CString;
use std::fs;

use anyhow::{Context, Result};
use nix::mount::{MsFlags, mount, umount};
use nix::sys::stat::{Mode, SFlag, makedev, mknod};
use nix::unistd::execv;

/// Where the figures are left.
const FIGURES: &str = "/boot-figures";
/// What is written to the kernel's log, so that its time stamps can be compared with the counter.
const MARK: &str = "donjon-scale: mark\n";
const LOG: &str = "/boot-log";

/// Writes the figures down and executes `/init`. `start` is what the counter had at first.
pub fn run(start: u64) -> Result<()> {
    let none: Option<&str> = None;
    mount(Some("proc"), "/proc", Some("proc"), MsFlags::empty(), none).context("mounting /proc")?;
    let waited = waited()?;
    umount("/proc")?;
    mknod(LOG, SFlag::S_IFCHR, Mode::S_IWUSR, makedev(1, 11)).context("the kernel's log")?;
    let mark = virtual_count();
    fs::write(LOG, MARK).context("writing to the kernel's log")?;
    let figures = format!("boot: {start} {mark} {waited} {}\n", frequency());
    fs::write(FIGURES, figures)?;
    execute()?;
    Ok(())
}

fn execute() -> Result<Infallible> {
    let program = CString::new("/init")?;
    Ok(execv(&program, &[&program])?)
}

/// Nanoseconds in which CPU 0 had nothing to do, as the tick counts them.
fn waited() -> Result<u64> {
    let text = fs::read_to_string("/proc/timer_list")?;
    let of = |name: &str| -> Result<u64> {
        let line = text.lines().find_map(|it| {
            let rest = it.trim_start().strip_prefix(name)?;
            rest.trim_start().strip_prefix(": ")?.strip_suffix(" nsecs")
        });
        Ok(line
            .with_context(|| format!("no {name} in /proc/timer_list"))?
            .parse()?)
    };
    Ok(of(".idle_sleeptime")? + of(".iowait_sleeptime")?)
}

/// The virtual counter of now.
pub fn virtual_count() -> u64 {
    let count: u64;
    // SAFETY: Linux lets user space read the virtual counter.
    unsafe { asm!("isb", "mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack)) };
    count
}

/// How often it counts in a second.
fn frequency() -> u64 {
    let frequency: u64;
    // SAFETY: Linux lets user space read the frequency of the virtual counter.
    unsafe { asm!("mrs {}, cntfrq_el0", out(reg) frequency, options(nomem, nostack)) };
    frequency
}
