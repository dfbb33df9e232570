// SPDX-License-Identifier: MIT OR Apache-2.0
//! Filters on system calls.

use std::fs::{self, File};
use std::io::Error;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};

use crate::child::{Child, skip};

/// Classic BPF: load a word, compare, return.
const LOAD: u16 = 0x20;
const JUMP_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;
const ERRNO: u32 = 0x0005_0000;

/// Installs a filter that answers `call` with `action` and allows the rest.
fn install(call: i64, action: u32, flags: u64) -> Result<()> {
    install_lines(
        &mut [
            line(LOAD, 0, 0, 0),
            line(JUMP_EQUAL, 0, 1, u32::try_from(call)?),
            line(RETURN, 0, 0, action),
            line(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
        ],
        flags,
    )
}

/// Installs a filter of one instruction, which allows all.
pub fn install_shortest() -> Result<()> {
    install_lines(&mut [line(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW)], 0)
}

fn line(code: u16, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}

fn install_lines(lines: &mut [libc::sock_filter], flags: u64) -> Result<()> {
    let program = libc::sock_fprog {
        len: lines.len() as u16,
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

const POOL: &str = "/sys/kernel/security/donjon/pool";
/// Filters of the process that runs them: more than a page of text has.
const RUN: usize = 60;
/// Filters that come and go meanwhile, at least.
const COMING: usize = 200;
/// How long a CPU is waited for that meets a page which is being exchanged.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How often the kernel found a page of programs on its way; none over the native kernel.
fn retries() -> Option<u64> {
    let text = fs::read_to_string(POOL).ok()?;
    let line = text
        .lines()
        .find_map(|it| it.strip_prefix("text_retries: "))?;
    line.parse().ok()
}

/// Filters that run on one CPU while others come to their pages of text and leave them.
pub fn shared_pages() -> Result<()> {
    // SAFETY: takes a number.
    if unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) } < 2 {
        return Err(skip("one CPU"));
    }
    let before = retries();
    let runner = Child::start(|| {
        for number in 0..RUN {
            install(libc::SYS_getppid, ERRNO | (number as u32 + 1), 0)?;
        }
        loop {
            // The last of equal actions is the one that counts.
            refused_with(Errno::from_raw(RUN as i32))?;
        }
    })?;
    let deadline = Instant::now() + TIMEOUT;
    let mut came = 0;
    while came < COMING || before.is_some() && retries() <= before {
        ensure!(
            Instant::now() < deadline,
            "no CPU met a page on its way among {came} exchanges"
        );
        Child::start(|| {
            install(libc::SYS_getppid, ERRNO | libc::EPERM as u32, 0)?;
            refused_with(Errno::EPERM)
        })?
        .join()?;
        came += 1;
    }
    // It has ended by itself if a filter did what it should not.
    kill(runner.pid, Signal::SIGKILL)?;
    runner.join_killed_by(Signal::SIGKILL)
}
