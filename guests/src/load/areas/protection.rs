// SPDX-License-Identifier: MIT OR Apache-2.0
//! mprotect: what it allows, what it refuses, and code that is written and then run.

use std::arch::asm;
use std::io::{Error, PipeReader, PipeWriter};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

use crate::child::Child;
use crate::memory::{Mapping, PAGE};

const NONE: i32 = libc::PROT_NONE;
const READ: i32 = libc::PROT_READ;
const WRITE: i32 = libc::PROT_READ | libc::PROT_WRITE;

/// Asks Linux to read or write for us: it answers where we would be killed.
struct Probe(PipeReader, PipeWriter);

impl Probe {
    fn readable(&self, memory: &Mapping, page: usize) -> Result<bool> {
        let from = memory.pointer().wrapping_add(page * PAGE);
        // SAFETY: a page of the mapping; Linux checks whether it may be read.
        let count = unsafe { libc::write(self.1.as_raw_fd(), from.cast(), 8) };
        if count != 8 {
            return refused();
        }
        let mut word = [0u8; 8];
        // SAFETY: eight bytes for eight bytes.
        unsafe { libc::read(self.0.as_raw_fd(), word.as_mut_ptr().cast(), 8) };
        ensure!(
            u64::from_le_bytes(word) == memory.read(page * 512),
            "the kernel read something else"
        );
        Ok(true)
    }

    fn writable(&self, memory: &Mapping, page: usize) -> Result<bool> {
        let to = memory.pointer().wrapping_add(page * PAGE + 1000);
        let word = 0x0123_4567_89ab_cdefu64;
        // SAFETY: eight bytes of ours.
        unsafe { libc::write(self.1.as_raw_fd(), (&raw const word).cast(), 8) };
        // SAFETY: a page of the mapping; Linux checks whether it may be written.
        if unsafe { libc::read(self.0.as_raw_fd(), to.cast(), 8) } == 8 {
            ensure!(
                memory.read(page * 512 + 125) == word,
                "a write went elsewhere"
            );
            return Ok(true);
        }
        let refused = refused();
        let mut rest = [0u8; 8];
        // SAFETY: what stayed in the pipe.
        unsafe { libc::read(self.0.as_raw_fd(), rest.as_mut_ptr().cast(), 8) };
        refused
    }
}

fn refused() -> Result<bool> {
    let error = Error::last_os_error();
    ensure!(error.raw_os_error() == Some(libc::EFAULT), "{error}");
    Ok(false)
}

/// Walks protections over pages of several tables, page by page and in runs.
pub fn walk() -> Result<()> {
    walk_over(1200, 6)
}

/// `rounds` walks over `pages` pages.
pub fn walk_over(pages: usize, rounds: usize) -> Result<()> {
    walk_in(&Mapping::anonymous(pages * PAGE)?, rounds)
}

/// `rounds` walks over a mapping.
pub fn walk_in(memory: &Mapping, rounds: usize) -> Result<()> {
    let pages = memory.pages();
    let (reader, writer) = std::io::pipe()?;
    let probe = Probe(reader, writer);
    memory.stamp(9);
    for round in 0..rounds {
        let protection_of = |page: usize| [NONE, READ, WRITE][(page / 7 + round) % 3];
        memory.protect(0, pages, READ)?;
        for first in (0..pages).step_by(7) {
            memory.protect(first, 7.min(pages - first), protection_of(first))?;
        }
        for page in (0..pages).step_by(5) {
            let expected = protection_of(page);
            ensure!(
                probe.readable(memory, page)? == (expected != NONE)
                    && probe.writable(memory, page)? == (expected == WRITE),
                "page {page} is not as {expected} says"
            );
        }
        memory.protect(0, pages, WRITE)?;
        memory.check(9)?;
    }
    Ok(())
}

static FAULTS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn allow_writing(_: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    FAULTS.fetch_add(1, Ordering::SeqCst);
    // SAFETY: Linux passes a valid siginfo_t; mprotect is a bare system call.
    unsafe {
        let page = (*info).si_addr().map_addr(|it| it & !(PAGE - 1));
        libc::mprotect(page, PAGE, WRITE);
    }
}

/// Every write to a protected page arrives as a signal, once; without a handler it kills.
pub fn faults() -> Result<()> {
    let memory = Mapping::anonymous(700 * PAGE)?;
    memory.stamp(1);
    for protection in [NONE, READ] {
        memory.protect(0, memory.pages(), protection)?;
        Child::start(|| {
            memory.write(3 * 512, 1);
            Ok(())
        })?
        .join_killed_by(Signal::SIGSEGV)?;
    }
    let handler = SigAction::new(
        SigHandler::SigAction(allow_writing),
        SaFlags::SA_SIGINFO,
        SigSet::empty(),
    );
    // SAFETY: the handler does nothing that a handler may not do.
    unsafe { sigaction(Signal::SIGSEGV, &handler)? };
    for round in 0..4 {
        memory.protect(0, memory.pages(), [NONE, READ][round % 2])?;
        FAULTS.store(0, Ordering::SeqCst);
        memory.stamp(round as u64);
        let faults = FAULTS.load(Ordering::SeqCst);
        ensure!(
            faults == memory.pages(),
            "{faults} faults, not {}",
            memory.pages()
        );
        memory.check(round as u64)?;
    }
    Ok(())
}

/// Functions that return a number, written, made executable, run, and written again.
pub fn generated_code() -> Result<()> {
    generated_code_in(&Mapping::anonymous(64 * PAGE)?)
}

/// Functions in a mapping that is writable, executable and readable in turn.
pub fn generated_code_in(memory: &Mapping) -> Result<()> {
    for round in 0..8u32 {
        memory.protect(0, memory.pages(), WRITE)?;
        for page in 0..memory.pages() {
            let number = round * 1000 + u32::try_from(page)?;
            // movz w0, #number; ret
            let code = u64::from(0x5280_0000 | number << 5) | 0xd65f_03c0 << 32;
            memory.write(page * 512, code);
            synchronize(memory.address() + page * PAGE);
        }
        memory.protect(0, memory.pages(), READ | libc::PROT_EXEC)?;
        for page in 0..memory.pages() {
            let place = memory.pointer().wrapping_add(page * PAGE);
            // SAFETY: the two instructions above are such a function, and caches know them.
            let function: extern "C" fn() -> u32 = unsafe { std::mem::transmute(place) };
            let number = function();
            ensure!(
                number == round * 1000 + u32::try_from(page)?,
                "the code of page {page} returned {number} in round {round}"
            );
        }
    }
    memory.protect(0, 1, READ)?;
    Child::start(|| {
        // SAFETY: it is not executable any more, which ends the child.
        let function: extern "C" fn() -> u32 = unsafe { std::mem::transmute(memory.pointer()) };
        function();
        Ok(())
    })?
    .join_killed_by(Signal::SIGSEGV)
    .context("code on a page that is not executable")
}

/// Makes code at `address` visible to instruction fetches of this CPU and the others.
fn synchronize(address: usize) {
    // SAFETY: cache maintenance of an address of ours, allowed at EL0 by Linux.
    unsafe {
        asm!(
            "dc cvau, {0}",
            "dsb ish",
            "ic ivau, {0}",
            "dsb ish",
            "isb",
            in(reg) address,
            options(nostack),
        );
    }
}
