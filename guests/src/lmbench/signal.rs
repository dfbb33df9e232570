// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lat_sig`: installing a handler, catching a signal, a protection fault.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::Relaxed};

use anyhow::{Context, Result, ensure};

use crate::kernel;
use crate::timing::{Plan, print};

const PAGE: usize = 4096;

/// Faults that are still to come.
static LEFT: AtomicU64 = AtomicU64::new(0);
/// The page that they are on.
static WHERE: AtomicPtr<libc::c_void> = AtomicPtr::new(ptr::null_mut());

extern "C" fn nothing(_: i32) {}

/// Returns to the instruction that faulted, which faults again, until the page may be written.
extern "C" fn fault(_: i32) {
    // Nothing else changes it meanwhile.
    let left = LEFT.load(Relaxed) - 1;
    LEFT.store(left, Relaxed);
    if left == 0 {
        protect(libc::PROT_READ | libc::PROT_WRITE);
    }
}

fn protect(protection: i32) {
    // SAFETY: the page is a mapping of this program's that nothing refers to.
    unsafe { libc::mprotect(WHERE.load(Relaxed), PAGE, protection) };
}

/// Installs a handler without flags and with an empty mask.
fn handle(signal: i32, handler: extern "C" fn(i32)) -> Result<()> {
    let handler = handler as *const () as usize;
    // SAFETY: the handlers only touch atomics.
    let result = unsafe { kernel::handle(signal, handler) };
    ensure!(result == 0, "rt_sigaction fails");
    Ok(())
}

/// Times the installation of a handler.
pub fn install(plan: &Plan) -> Result<()> {
    let figure = plan.measure(
        || Ok(()),
        |(), times| {
            for _ in 0..times {
                handle(libc::SIGUSR1, nothing)?;
            }
            Ok(())
        },
    )?;
    print("Signal handler installation", figure);
    Ok(())
}

/// Times sending a signal to oneself and catching it, less the sending.
pub fn catch(plan: &Plan) -> Result<()> {
    print("Signal handler overhead", caught(plan)?);
    Ok(())
}

fn caught(plan: &Plan) -> Result<f64> {
    Ok(sent(plan, libc::SIGUSR1)? - sent(plan, 0)?)
}

fn sent(plan: &Plan, signal: i32) -> Result<f64> {
    let own = || {
        handle(libc::SIGUSR1, nothing)?;
        Ok(std::process::id().cast_signed())
    };
    plan.measure(own, |own, times| {
        for _ in 0..times {
            ensure!(kernel::kill(*own, signal) == 0, "kill fails");
        }
        Ok(())
    })
}

/// Times a write to a read-only page of `file` and the signal, less what a signal costs.
pub fn protection(plan: &Plan, file: &str) -> Result<()> {
    let signal = caught(plan)?;
    let page = || {
        let file = File::options().read(true).write(true).open(file);
        let file = file.context("the file of the page")?;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let page = unsafe {
            libc::mmap(
                ptr::null_mut(),
                PAGE,
                libc::PROT_READ,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        ensure!(page != libc::MAP_FAILED, "mmap fails");
        WHERE.store(page, Relaxed);
        handle(libc::SIGSEGV, fault)?;
        Ok(page.cast::<u8>())
    };
    let both = plan.measure(page, |page, times| {
        protect(libc::PROT_READ);
        LEFT.store(times, Relaxed);
        // SAFETY: the page is mapped; the handler makes it writable in the end.
        unsafe { page.write_volatile(1) };
        Ok(())
    })?;
    print("Protection fault", both - signal);
    Ok(())
}
