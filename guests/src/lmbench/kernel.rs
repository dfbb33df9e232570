// SPDX-License-Identifier: MIT OR Apache-2.0
//! System calls with nothing around them: our C library would add other instructions than
//! LMBench's does.

use std::arch::asm;
use std::ffi::CStr;
use std::io::Error;
use std::mem::MaybeUninit;

use anyhow::{Context, Result};

/// One system call; a negative value is an error.
///
/// # Safety
///
/// Pointers among the arguments are valid for what the system call does with them.
#[inline(always)]
unsafe fn call(number: libc::c_long, arguments: [usize; 4]) -> isize {
    let result: isize;
    // SAFETY: Linux preserves every register but x0, and pointers among the arguments are valid for
    // what the system call does with them.
    unsafe {
        asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") arguments[0] => result,
            in("x1") arguments[1],
            in("x2") arguments[2],
            in("x3") arguments[3],
            options(nostack),
        );
    }
    result
}

/// The call that does nearly nothing.
#[inline(always)]
pub fn parent() -> isize {
    // SAFETY: it takes no arguments.
    unsafe { call(libc::SYS_getppid, [0; 4]) }
}

/// Reads; bytes or an error. A function, as in a C library.
#[inline(never)]
pub fn read(descriptor: i32, into: &mut [u8]) -> isize {
    let (start, length) = (into.as_mut_ptr() as usize, into.len());
    // SAFETY: the buffer is exclusively borrowed.
    unsafe { call(libc::SYS_read, [descriptor as usize, start, length, 0]) }
}

/// Writes; bytes or an error. A function, as in a C library.
#[inline(never)]
pub fn write(descriptor: i32, bytes: &[u8]) -> isize {
    let (start, length) = (bytes.as_ptr() as usize, bytes.len());
    // SAFETY: the buffer is borrowed.
    unsafe { call(libc::SYS_write, [descriptor as usize, start, length, 0]) }
}

/// The status of a path.
#[inline(always)]
pub fn stat(path: &CStr, status: &mut libc::stat) -> isize {
    let (here, path) = (libc::AT_FDCWD as usize, path.as_ptr() as usize);
    let status = std::ptr::from_mut(status) as usize;
    // SAFETY: the path is terminated and the status is exclusively borrowed.
    unsafe { call(libc::SYS_newfstatat, [here, path, status, 0]) }
}

/// The status of an open file.
#[inline(always)]
pub fn fstat(descriptor: i32, status: &mut libc::stat) -> isize {
    let status = std::ptr::from_mut(status) as usize;
    // SAFETY: the status is exclusively borrowed.
    unsafe { call(libc::SYS_fstat, [descriptor as usize, status, 0, 0]) }
}

/// Opens for reading; a descriptor or an error.
#[inline(always)]
pub fn open(path: &CStr) -> isize {
    let here = libc::AT_FDCWD as usize;
    // SAFETY: the path is terminated.
    unsafe { call(libc::SYS_openat, [here, path.as_ptr() as usize, 0, 0]) }
}

/// Closes a descriptor that nothing else owns.
#[inline(always)]
pub fn close(descriptor: i32) -> isize {
    // SAFETY: no pointers.
    unsafe { call(libc::SYS_close, [descriptor as usize, 0, 0, 0]) }
}

/// Sends a signal; 0 only looks whether it could be sent.
#[inline(always)]
pub fn kill(process: i32, signal: i32) -> isize {
    let arguments = [process as usize, signal as usize, 0, 0];
    // SAFETY: no pointers.
    unsafe { call(libc::SYS_kill, arguments) }
}

/// `struct sigaction` of the kernel (include/linux/signal_types.h).
#[repr(C)]
struct Action {
    handler: usize,
    flags: u64,
    restorer: usize,
    mask: u64,
}

/// Installs a handler without flags and with an empty mask.
///
/// # Safety
///
/// The handler can run at any time.
#[inline(never)]
pub unsafe fn handle(signal: i32, handler: usize) -> isize {
    let new = Action {
        handler,
        flags: 0,
        restorer: 0,
        mask: 0,
    };
    let mut old = MaybeUninit::<Action>::uninit();
    let (new, old) = (&raw const new as usize, old.as_mut_ptr() as usize);
    let arguments = [signal as usize, new, old, size_of::<u64>()];
    // SAFETY: both actions are local variables, and the handler is valid for this signal.
    unsafe { call(libc::SYS_rt_sigaction, arguments) }
}

/// `struct rseq` of the kernel (include/uapi/linux/rseq.h).
#[repr(C, align(32))]
struct RestartableSequences([u32; 8]);

/// Where the kernel notes the CPU when this thread runs again.
static mut SEQUENCES: RestartableSequences = RestartableSequences([0; 8]);

/// Registers the thread for restartable sequences, as the GNU C library does with each: that
/// lengthens each switch of processes. A kernel without them is none the worse.
pub fn register_sequences() {
    /// What the GNU C library has before its abort handlers on arm64.
    const SIGNATURE: usize = 0xd428_bc00;
    let place = &raw mut SEQUENCES as usize;
    let size = size_of::<RestartableSequences>();
    // SAFETY: nothing else refers to the static, which lives as long as the thread.
    unsafe { call(libc::SYS_rseq, [place, size, 0, SIGNATURE]) };
}

/// What a failed call of the C library left.
pub fn check(result: i64, what: &str) -> Result<i64> {
    if result < 0 {
        Err(Error::last_os_error()).context(what.to_owned())
    } else {
        Ok(result)
    }
}

/// Forks; 0 in the child.
pub fn fork() -> Result<i32> {
    // SAFETY: these programs have one thread.
    let child = check(unsafe { libc::fork() }.into(), "fork")?;
    Ok(child as i32)
}

/// Ends this process at once.
pub fn exit(status: i32) -> ! {
    // SAFETY: nothing is run or flushed.
    unsafe { libc::_exit(status) }
}

/// Waits for a child; its status as the system call says it.
pub fn wait_for(child: i32) -> Result<i32> {
    let mut status = 0;
    // SAFETY: the status is a local variable.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    check(waited.into(), "waitpid")?;
    Ok(status)
}

/// Asks for an end of this process when its parent ends.
pub fn end_with_parent() {
    // SAFETY: no pointers.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}
