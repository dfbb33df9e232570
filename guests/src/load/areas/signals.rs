// SPDX-License-Identifier: MIT OR Apache-2.0
//! Signals: on another stack, nested, queued with values, from a timer, over floating point.

use std::arch::asm;
use std::io::Error;
use std::ptr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, kill, raise, sigaction};
use nix::unistd::{getpid, getppid};

use crate::child::Child;
use crate::memory::Mapping;

static COUNT: AtomicU64 = AtomicU64::new(0);
static SUM: AtomicU64 = AtomicU64::new(0);
static STACK: AtomicUsize = AtomicUsize::new(0);
const STACK_BYTES: usize = 64 << 10;

extern "C" fn nested(_: i32) {
    let here = 0u8;
    let offset = (&raw const here)
        .addr()
        .wrapping_sub(STACK.load(Ordering::SeqCst));
    if offset < STACK_BYTES {
        COUNT.fetch_add(1, Ordering::SeqCst);
    }
    let _ = raise(Signal::SIGUSR2);
}

extern "C" fn spoil_vectors(_: i32) {
    SUM.fetch_add(1, Ordering::SeqCst);
    // SAFETY: a handler may use every vector register; Linux gives them back.
    unsafe { asm!("movi v8.16b, #0x55", "movi v20.16b, #0xaa", out("v8") _, out("v20") _) };
}

extern "C" fn queued(_: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: Linux passes a valid siginfo_t, and the sender used sigqueue.
    let value = unsafe { (*info).si_value().sival_ptr.addr() };
    COUNT.fetch_add(1, Ordering::SeqCst);
    SUM.fetch_add(value as u64, Ordering::SeqCst);
}

fn install(signal: Signal, handler: SigHandler, flags: SaFlags) -> Result<()> {
    let action = SigAction::new(handler, flags, SigSet::empty());
    // SAFETY: the handlers above touch atomics alone and raise signals.
    unsafe { sigaction(signal, &action)? };
    Ok(())
}

/// Checks signals: on a stack of their own, with values, from a timer, between processes.
pub fn signals() -> Result<()> {
    alternate_stack()?;
    values()?;
    timer()?;
    between_processes()
}

fn alternate_stack() -> Result<()> {
    let stack = Mapping::anonymous(STACK_BYTES)?;
    STACK.store(stack.address(), Ordering::SeqCst);
    let description = libc::stack_t {
        ss_sp: stack.pointer().cast(),
        ss_flags: 0,
        ss_size: STACK_BYTES,
    };
    // SAFETY: a stack that lives until it is taken away below.
    let failed = unsafe { libc::sigaltstack(&description, ptr::null_mut()) };
    ensure!(failed == 0, "sigaltstack: {}", Error::last_os_error());
    install(
        Signal::SIGUSR1,
        SigHandler::Handler(nested),
        SaFlags::SA_ONSTACK,
    )?;
    install(
        Signal::SIGUSR2,
        SigHandler::Handler(spoil_vectors),
        SaFlags::empty(),
    )?;
    for _ in 0..500 {
        raise(Signal::SIGUSR1)?;
    }
    let disabled = libc::stack_t {
        ss_sp: ptr::null_mut(),
        ss_flags: libc::SS_DISABLE,
        ss_size: 0,
    };
    // SAFETY: nothing runs on it now.
    unsafe { libc::sigaltstack(&disabled, ptr::null_mut()) };
    let (outer, inner) = (
        COUNT.swap(0, Ordering::SeqCst),
        SUM.swap(0, Ordering::SeqCst),
    );
    ensure!(
        (outer, inner) == (500, 500),
        "{outer} handlers, {inner} nested"
    );
    Ok(())
}

fn values() -> Result<()> {
    install(
        Signal::SIGUSR1,
        SigHandler::SigAction(queued),
        SaFlags::SA_SIGINFO,
    )?;
    for value in 1..=300usize {
        let value = libc::sigval {
            sival_ptr: ptr::without_provenance_mut(value),
        };
        // SAFETY: to ourselves, with a number as its value.
        let failed = unsafe { libc::sigqueue(getpid().as_raw(), libc::SIGUSR1, value) };
        ensure!(failed == 0, "sigqueue: {}", Error::last_os_error());
    }
    let (count, sum) = (
        COUNT.swap(0, Ordering::SeqCst),
        SUM.swap(0, Ordering::SeqCst),
    );
    ensure!(
        (count, sum) == (300, 45_150),
        "{count} signals with sum {sum}"
    );
    Ok(())
}

/// A timer interrupts arithmetic on vector registers, which must not show.
fn timer() -> Result<()> {
    install(
        Signal::SIGALRM,
        SigHandler::Handler(spoil_vectors),
        SaFlags::SA_RESTART,
    )?;
    let every = libc::timeval {
        tv_sec: 0,
        tv_usec: 2000,
    };
    let interval = libc::itimerval {
        it_interval: every,
        it_value: every,
    };
    // SAFETY: a valid itimerval.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &interval, ptr::null_mut()) };
    let deadline = Instant::now() + Duration::from_secs(30);
    let mut wrong = 0;
    while SUM.load(Ordering::SeqCst) < 100 && Instant::now() < deadline {
        let kept: u64;
        // SAFETY: names every register that it changes.
        unsafe {
            asm!(
                "fmov d8, {seed}",
                "mov {rounds}, #20000",
                "2: fmov {kept}, d8",
                "fmov d8, {kept}",
                "subs {rounds}, {rounds}, #1",
                "b.ne 2b",
                seed = in(reg) 0x1234_5678_9abc_def0u64,
                rounds = out(reg) _,
                kept = out(reg) kept,
                out("v8") _,
                options(nostack),
            );
        }
        wrong += u32::from(kept != 0x1234_5678_9abc_def0);
    }
    let none = libc::itimerval {
        it_interval: libc::timeval {
            tv_sec: 0,
            tv_usec: 0,
        },
        it_value: libc::timeval {
            tv_sec: 0,
            tv_usec: 0,
        },
    };
    // SAFETY: a valid itimerval.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &none, ptr::null_mut()) };
    let ticks = SUM.swap(0, Ordering::SeqCst);
    ensure!(ticks >= 100, "{ticks} ticks in 30 s");
    ensure!(wrong == 0, "{wrong} times a handler's registers showed");
    Ok(())
}

fn between_processes() -> Result<()> {
    install(
        Signal::SIGUSR1,
        SigHandler::SigAction(queued),
        SaFlags::SA_SIGINFO,
    )?;
    Child::start(|| Ok(kill(getppid(), Signal::SIGUSR1)?))?.join()?;
    ensure!(
        COUNT.load(Ordering::SeqCst) == 1,
        "a child's signal did not arrive"
    );
    let child = Child::start(|| {
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    })?;
    kill(child.pid, Signal::SIGTERM)?;
    child.join_killed_by(Signal::SIGTERM)
}
