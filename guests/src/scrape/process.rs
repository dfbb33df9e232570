// SPDX-License-Identifier: MIT OR Apache-2.0
//! What Linux lets one process read of a second.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::slice;

use anyhow::Result;
use donjon_guests::memory::PAGE;
use nix::errno::Errno;
use nix::sys::ptrace::{self, regset};
use nix::sys::wait::waitpid;
use nix::unistd::Pid;

use crate::target::Target;
use crate::wanted::{Tally, Wanted};

/// `/proc/PID/mem`, at all addresses that it has or that are known.
pub fn mem(target: &Target) -> Result<Tally> {
    let mut tally = Tally::THERE;
    for &pid in &target.pids {
        match File::open(format!("/proc/{pid}/mem")) {
            Ok(file) => {
                tally += pages(target, pid, |page, bytes| {
                    file.read_exact_at(bytes, page).is_ok()
                })
            }
            Err(_) => tally += pages(target, pid, |_, _| false),
        }
    }
    Ok(tally)
}

/// `process_vm_readv`.
pub fn vm_read(target: &Target) -> Result<Tally> {
    let mut tally = Tally::THERE;
    let mut is_there = true;
    for &pid in &target.pids {
        tally += pages(target, pid, |page, bytes| {
            let read = read_remote(pid, page, bytes);
            is_there &= read != Err(Errno::ENOSYS);
            read == Ok(PAGE)
        });
    }
    Ok(if is_there { tally } else { Tally::default() })
}

fn read_remote(pid: Pid, address: u64, bytes: &mut [u8]) -> Result<usize, Errno> {
    let here = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    let there = libc::iovec {
        iov_base: std::ptr::without_provenance_mut(address as usize),
        iov_len: bytes.len(),
    };
    // SAFETY: the kernel writes to this buffer alone, which is this long.
    let count = unsafe { libc::process_vm_readv(pid.as_raw(), &here, 1, &there, 1, 0) };
    Errno::result(count).map(isize::cast_unsigned)
}

/// `ptrace`: registers, and each word of what may be written.
pub fn trace(target: &Target) -> Result<Tally> {
    let mut tally = Tally::THERE;
    for &pid in &target.pids {
        if ptrace::attach(pid).is_err() {
            tally += pages(target, pid, |_, _| false);
            continue;
        }
        waitpid(pid, None)?;
        tally.found += registers(pid, target.wanted)?;
        for page in target.pages(pid, true) {
            let mut bytes = [0; PAGE];
            let is_read = peek(pid, page, &mut bytes);
            let has = target.has_messages(page);
            tally.add_page(is_read.then_some(&mut bytes), has, target.wanted);
        }
        ptrace::detach(pid, None)?;
    }
    Ok(tally)
}

fn peek(pid: Pid, page: u64, bytes: &mut [u8; PAGE]) -> bool {
    let places = (page as usize..).step_by(8);
    places.zip(bytes.as_chunks_mut().0).all(|(place, word)| {
        let peeked = ptrace::read(pid, std::ptr::without_provenance_mut(place));
        peeked.is_ok_and(|it| {
            *word = it.to_ne_bytes();
            true
        })
    })
}

fn registers(pid: Pid, wanted: Wanted) -> Result<u64> {
    let general = ptrace::getregset::<regset::NT_PRSTATUS>(pid)?;
    let vector = ptrace::getregset::<regset::NT_PRFPREG>(pid)?;
    Ok(count_in(general, wanted) + count_in(vector, wanted))
}

fn count_in<T: Copy>(mut registers: T, wanted: Wanted) -> u64 {
    let start = (&raw mut registers).cast::<u8>();
    // SAFETY: the bytes of a structure of the kernel's, all of which it has written.
    let bytes = unsafe { slice::from_raw_parts_mut(start, size_of::<T>()) };
    wanted.count(bytes)
}

/// All pages of a process, by a way that says whether it has read one.
fn pages(target: &Target, pid: Pid, mut read: impl FnMut(u64, &mut [u8]) -> bool) -> Tally {
    let mut tally = Tally::THERE;
    let mut bytes = [0; PAGE];
    for page in target.pages(pid, false) {
        let is_read = read(page, &mut bytes);
        let has = target.has_messages(page);
        tally.add_page(is_read.then_some(&mut bytes), has, target.wanted);
    }
    tally
}
