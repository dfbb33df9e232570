// SPDX-License-Identifier: MIT OR Apache-2.0
//! Filters on system calls.

use std::fs::File;
use std::io::Error;
use std::thread;

use anyhow::{Result, anyhow, ensure};
use nix::errno::Errno;
use nix::sys::signal::Signal;

use crate::child::Child;

/// Classic BPF: load a word, compare, return.
const LOAD: u16 = 0x20;
const JUMP_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;
const ERRNO: u32 = 0x0005_0000;

/// Installs a filter that answers `call` with `action` and allows the rest.
fn install(call: i64, action: u32, flags: u64) -> Result<()> {
    let line = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let mut lines = [
        line(LOAD, 0, 0, 0),
        line(JUMP_EQUAL, 0, 1, u32::try_from(call)?),
        line(RETURN, 0, 0, action),
        line(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: 4,
        filter: lines.as_mut_ptr(),
    };
    // SAFETY: two calls that take numbers and a program that lives through them.
    let failed = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            flags,
            &raw const program,
        )
    };
    ensure!(failed == 0, "seccomp: {}", Error::last_os_error());
    Ok(())
}

fn parent() -> i64 {
    // SAFETY: takes nothing.
    unsafe { libc::syscall(libc::SYS_getppid) }
}

fn refused_with(errno: Errno) -> Result<()> {
    let result = parent();
    let found = Errno::last();
    ensure!(
        result == -1 && found == errno,
        "getppid gave {result}, {found}"
    );
    Ok(())
}

/// Answers instead of a call, death by a call, a filter for all threads, and many at once.
pub fn filters() -> Result<()> {
    ensure!(parent() > 0, "getppid failed without a filter");
    for _ in 0..10 {
        Child::start(|| {
            install(libc::SYS_getppid, ERRNO | libc::EPERM as u32, 0)?;
            refused_with(Errno::EPERM)?;
            Child::start(|| refused_with(Errno::EPERM))?.join()?;
            install(libc::SYS_getppid, ERRNO | libc::ENODATA as u32, 0)?;
            // The last of two equal actions counts.
            refused_with(Errno::ENODATA)?;
            ensure!(
                File::open("/proc/self/status").is_ok(),
                "another call is refused"
            );
            Ok(())
        })?
        .join()?;
    }
    Child::start(|| {
        install(libc::SYS_getppid, libc::SECCOMP_RET_KILL_PROCESS, 0)?;
        parent();
        Ok(())
    })?
    .join_killed_by(Signal::SIGSYS)?;
    Child::start(|| {
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let other = thread::spawn(move || {
            let _ = receiver.recv();
            refused_with(Errno::EPERM)
        });
        install(
            libc::SYS_getppid,
            ERRNO | libc::EPERM as u32,
            libc::SECCOMP_FILTER_FLAG_TSYNC,
        )?;
        drop(sender);
        other.join().map_err(|_| anyhow!("the thread panicked"))?
    })?
    .join()?;
    ensure!(parent() > 0, "a child's filter reached its parent");
    Ok(())
}
