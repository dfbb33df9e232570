// SPDX-License-Identifier: MIT OR Apache-2.0
//! The upper half of a user's 48 bits of addresses, which a kernel with 47 does not have.

use std::io::Error;
use std::ptr;

use anyhow::{Context, Result, ensure};
use nix::sys::signal::Signal;

use super::protection;
use crate::child::Child;
use crate::memory::{Mapping, PAGE, TABLE_SPAN};

/// Where the upper half begins.
const HALF: usize = 1 << 47;
/// One past the last address.
const END: usize = 1 << 48;
/// A place in the upper half where nothing of the process is.
const PLACE: usize = HALF + (0x1234 << 30);
/// Pages at the end of which one is free.
const LAST: usize = 1 << 14;

/// The stack is near the end; memory is mapped, used by the process and by Linux, protected, moved,
/// copied by fork and given back, across the middle, above it, and at the end. Beyond there is
/// none.
pub fn upper_half() -> Result<()> {
    let local = 0u8;
    let stack = (&raw const local).addr();
    ensure!(stack >= HALF, "the stack is at {stack:#x}");
    for start in [
        HALF - TABLE_SPAN,
        HALF - 3 * PAGE,
        PLACE,
        PLACE + (1 << 39) - PAGE,
    ] {
        let memory = Mapping::at(start, 600 * PAGE).with_context(|| format!("at {start:#x}"))?;
        use_all(&memory, start as u64)?;
        drop(memory);
        is_gone(start + PAGE)?;
    }
    let memory = last().context("no page of the last ones can be mapped")?;
    memory.stamp(7);
    memory.check(7)?;
    for beyond in [END, END + (1 << 30), usize::MAX - 2 * PAGE + 1] {
        let refused = Mapping::at(beyond, PAGE);
        ensure!(refused.is_err(), "{beyond:#x} can be mapped");
    }
    in_huge_pages()?;
    by_atomic_accesses()?;
    moves()?;
    protection::generated_code_in(&Mapping::at(PLACE, 64 * PAGE)?)
}

/// A page among the last ones, the first that is free from the end.
fn last() -> Option<Mapping> {
    (1..=LAST).find_map(|page| Mapping::at(END - page * PAGE, PAGE).ok())
}

/// The process and Linux read and write pages; a child has a copy of its own.
fn use_all(memory: &Mapping, seed: u64) -> Result<()> {
    memory.stamp(seed);
    Child::start(|| {
        memory.check(seed)?;
        memory.stamp(seed + 1);
        memory.check(seed + 1)
    })?
    .join()?;
    memory.check(seed)?;
    protection::walk_in(memory, 2)?;
    memory.protect(1, 1, libc::PROT_READ)?;
    Child::start(|| {
        memory.write(512, 1);
        Ok(())
    })?
    .join_killed_by(Signal::SIGSEGV)?;
    memory.protect(1, 1, libc::PROT_READ | libc::PROT_WRITE)?;
    // The top byte of a pointer does not count.
    let tagged: *const u64 = memory.pointer().cast();
    let tagged = tagged.map_addr(|it| it | 0x5a << 56);
    // SAFETY: the first word of the mapping; translation ignores the tag.
    let found = unsafe { tagged.read_volatile() };
    ensure!(found == memory.read(0), "a tagged pointer leads elsewhere");
    memory.advise(libc::MADV_DONTNEED)?;
    ensure!(memory.read(0) == 0, "a page that was given up is not empty");
    Ok(())
}

/// Nothing is at an address any more.
fn is_gone(address: usize) -> Result<()> {
    Child::start(|| {
        let place = ptr::without_provenance::<u8>(address);
        // SAFETY: nothing is mapped there, which ends the child.
        unsafe { place.read_volatile() };
        Ok(())
    })?
    .join_killed_by(Signal::SIGSEGV)
    .with_context(|| format!("{address:#x} after munmap"))
}

/// Blocks of 2 MiB, where Linux has them.
fn in_huge_pages() -> Result<()> {
    let memory = Mapping::at(PLACE, 4 * TABLE_SPAN)?;
    if memory.advise(libc::MADV_HUGEPAGE).is_err() {
        return Ok(());
    }
    memory.stamp(3);
    Child::start(|| {
        memory.check(3)?;
        memory.stamp(4);
        Ok(())
    })?
    .join()?;
    memory.check(3)
}

/// A futex is read where Linux may not wait: what is not mapped yet is filled in on the way.
fn by_atomic_accesses() -> Result<()> {
    let memory = Mapping::at(PLACE, 16 * PAGE)?;
    for page in 0..memory.pages() {
        memory.write(page * 512, 1);
        // What walks read is dropped, and Linux keeps its entry.
        memory.protect(page, 1, libc::PROT_READ)?;
        memory.protect(page, 1, libc::PROT_READ | libc::PROT_WRITE)?;
        let word = memory.pointer().wrapping_add(page * PAGE);
        let (other, no_timeout) = (2, ptr::null::<libc::timespec>());
        // SAFETY: a word of the mapping, which is 1 and not 2, so the call returns at once.
        let waited =
            unsafe { libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAIT, other, no_timeout) };
        let error = Error::last_os_error();
        let differs = waited == -1 && error.raw_os_error() == Some(libc::EAGAIN);
        ensure!(differs, "futex of page {page}: {waited}, {error}");
    }
    Ok(())
}

/// Moves mappings from the lower half to the upper one and back, by whole tables and by pages.
fn moves() -> Result<()> {
    for bytes in [3 * TABLE_SPAN, 5 * PAGE] {
        let low = PLACE - HALF;
        let mut memory = Mapping::at(low, bytes)?;
        memory.stamp(11);
        for place in [PLACE, low, PLACE + (1 << 39)] {
            memory.move_to(place, bytes)?;
            memory.check(11)?;
        }
    }
    Ok(())
}
