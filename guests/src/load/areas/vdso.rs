// SPDX-License-Identifier: MIT OR Apache-2.0
//! The vDSO.

use std::ffi::CStr;
use std::io::Error;
use std::{fs, ptr, slice};

use anyhow::{Context, Result, ensure};

use crate::child::Child;

type GetTime = extern "C" fn(libc::clockid_t, *mut libc::timespec) -> i32;

/// Checks that the code of the vDSO agrees with the system call, and that a process that changes it
/// changes its own copy.
pub fn vdso() -> Result<()> {
    // SAFETY: takes a number.
    let base = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } as usize;
    ensure!(base != 0, "Linux gave this process none");
    let function = find(base, c"__kernel_clock_gettime").context("no __kernel_clock_gettime")?;
    // SAFETY: the vDSO documents this signature (Documentation/ABI/stable/vdso).
    let get: GetTime = unsafe { std::mem::transmute(function) };
    for clock in [
        libc::CLOCK_MONOTONIC,
        libc::CLOCK_REALTIME,
        libc::CLOCK_MONOTONIC_RAW,
    ] {
        for _ in 0..200 {
            let (before, between, after) = (called(clock), asked(get, clock)?, called(clock));
            ensure!(
                before <= between && between <= after,
                "clock {clock}: {before} {between} {after}"
            );
        }
    }
    // Linux refuses to change a part of it.
    let bytes = size(base)?;
    let word: *mut u64 = ptr::with_exposed_provenance_mut(base);
    // SAFETY: the first word of the ELF header.
    let original = unsafe { word.read_volatile() };
    Child::start(|| {
        let all = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: pages of this child.
        let failed = unsafe { libc::mprotect(word.cast(), bytes, all) };
        ensure!(failed == 0, "mprotect: {}", Error::last_os_error());
        // SAFETY: it is writable now, and private.
        let found = unsafe {
            word.write_volatile(7);
            word.read_volatile()
        };
        ensure!(found == 7, "the write did not arrive");
        Child::start(|| {
            // SAFETY: the first word of the vDSO's ELF header, which the child has inherited.
            let inherited = unsafe { word.read_volatile() };
            ensure!(inherited == 7, "a fork brought the original back");
            Ok(())
        })?
        .join()
    })?
    .join()?;
    // SAFETY: the first word of the vDSO's ELF header.
    let kept = unsafe { word.read_volatile() };
    ensure!(kept == original, "a child changed our vDSO");
    asked(get, libc::CLOCK_MONOTONIC).map(|_| ())
}

/// The size of the mapping at `base`.
fn size(base: usize) -> Result<usize> {
    let maps = fs::read_to_string("/proc/self/maps")?;
    let end = maps.lines().find_map(|line| {
        let rest = line.strip_prefix(&format!("{base:x}-"))?;
        usize::from_str_radix(rest.split(' ').next()?, 16).ok()
    });
    Ok(end.context("the vDSO is not in /proc/self/maps")? - base)
}

fn nanoseconds(time: libc::timespec) -> i64 {
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

fn called(clock: libc::clockid_t) -> i64 {
    // SAFETY: zero bytes are a timespec, and the call fills it.
    unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::syscall(libc::SYS_clock_gettime, clock, &raw mut time);
        nanoseconds(time)
    }
}

fn asked(get: GetTime, clock: libc::clockid_t) -> Result<i64> {
    // SAFETY: zero bytes are a timespec.
    let mut time: libc::timespec = unsafe { std::mem::zeroed() };
    ensure!(get(clock, &raw mut time) == 0, "clock {clock} is refused");
    Ok(nanoseconds(time))
}

/// The address of a symbol of the ELF image at `base`.
fn find(base: usize, name: &CStr) -> Option<*const ()> {
    const DYNAMIC: u32 = 2;
    let (strings_tag, symbols_tag, hash_tag) = (5, 6, 4);
    let at = |offset: usize| ptr::with_exposed_provenance::<u8>(base + offset);
    // SAFETY: Linux maps a complete ELF image there, headers and dynamic section included.
    unsafe {
        let header = &*at(0).cast::<libc::Elf64_Ehdr>();
        let programs = slice::from_raw_parts(
            at(header.e_phoff as usize).cast::<libc::Elf64_Phdr>(),
            header.e_phnum.into(),
        );
        let dynamic = programs.iter().find(|it| it.p_type == DYNAMIC)?;
        let entries = slice::from_raw_parts(
            at(dynamic.p_offset as usize).cast::<[u64; 2]>(),
            dynamic.p_filesz as usize / 16,
        );
        let value = |tag: u64| Some(entries.iter().find(|it| it[0] == tag)?[1] as usize);
        // The second word of the hash table counts the symbols.
        let count = at(value(hash_tag)?).cast::<u32>().add(1).read() as usize;
        let symbols =
            slice::from_raw_parts(at(value(symbols_tag)?).cast::<libc::Elf64_Sym>(), count);
        let strings = value(strings_tag)?;
        let found = symbols
            .iter()
            .find(|it| CStr::from_ptr(at(strings + it.st_name as usize).cast()) == name)?;
        Some(at(found.st_value as usize).cast())
    }
}
