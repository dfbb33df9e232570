// SPDX-License-Identifier: MIT OR Apache-2.0
//! Authentication of pointers: each process has keys of its own, and keeps them.

use std::arch::asm;
use std::io::Error;
use std::thread::yield_now;

use anyhow::{Result, ensure};
use nix::sys::signal::Signal;

use crate::child::{Child, skip};

/// The processor has the instructions, and Linux offers them.
const HWCAP_PACA: u64 = 1 << 30;
const KEY_A: u64 = 1;
/// Numbers for prctl, of Linux's `uapi/linux/prctl.h`.
const RESET_KEYS: i32 = 54;
const SET_ENABLED_KEYS: i32 = 60;
/// Where the code is that a signature puts into a user's pointer.
const CODE: u64 = 0x007f_8000_0000_0000;
const POINTERS: u64 = 16;
const PROCESSES: usize = 4;
const ROUNDS: usize = 2000;

/// `pointer` with a code of key A of instructions.
fn sign(pointer: u64, modifier: u64) -> u64 {
    let mut signed = pointer;
    // SAFETY: PACIA1716 changes x17 alone.
    unsafe { asm!("hint #8", inout("x17") signed, in("x16") modifier, options(nomem, nostack)) };
    signed
}

/// `signed` without its code, or a pointer that faults.
fn authenticate(signed: u64, modifier: u64) -> u64 {
    let mut pointer = signed;
    // SAFETY: AUTIA1716 changes x17 alone, or is an undefined instruction for what is forged.
    unsafe { asm!("hint #12", inout("x17") pointer, in("x16") modifier, options(nomem, nostack)) };
    pointer
}

/// Codes of several pointers: two keys agree in one of them now and then, and in all of them never.
fn signatures() -> Vec<u64> {
    (1..=POINTERS).map(|it| sign(it << 16, 42)).collect()
}

fn control(option: i32, keys: u64, value: u64) -> i32 {
    // SAFETY: takes numbers.
    unsafe { libc::prctl(option, keys, value, 0, 0) }
}

/// Checks that a signed pointer authenticates, that a forged one does not, and that no process gets
/// the keys of another.
pub fn keys() -> Result<()> {
    // SAFETY: takes a number.
    if unsafe { libc::getauxval(libc::AT_HWCAP) } & HWCAP_PACA == 0 {
        return Err(skip("no authentication of pointers"));
    }
    let own = signatures();
    ensure!(own.iter().any(|it| it & CODE != 0), "nothing is signed");
    for (number, signed) in (1..).zip(&own) {
        let found = authenticate(*signed, 42);
        ensure!(found == number << 16, "{signed:#x} became {found:#x}");
    }
    forged(own[0])?;
    // A child has its parent's keys until it asks for others.
    Child::start(|| {
        ensure!(signatures() == own, "a fork changed the keys");
        let failed = control(RESET_KEYS, KEY_A, 0);
        ensure!(failed == 0, "new keys: {}", Error::last_os_error());
        ensure!(signatures() != own, "the keys stayed");
        Ok(())
    })?
    .join()?;
    ensure!(signatures() == own, "a child changed our keys");
    taking_turns()?;
    disabled(&own)
}

/// Checks that a pointer with a changed code leads nowhere.
fn forged(signed: u64) -> Result<()> {
    let forged = signed ^ (1 << 50);
    let child = Child::start(|| {
        let found = authenticate(forged, 42);
        // Cores that do not fault leave a pointer that does.
        if found != 1 << 16 {
            // SAFETY: ends this child as a fault would.
            unsafe { libc::raise(libc::SIGILL) };
        }
        Ok(())
    })?;
    child.join_killed_by(Signal::SIGILL)
}

/// Processes that take turns on the CPUs keep their keys.
fn taking_turns() -> Result<()> {
    let children: Vec<Child> = (0..PROCESSES)
        .map(|_| {
            Child::start(|| {
                let failed = control(RESET_KEYS, 0, 0);
                ensure!(failed == 0, "new keys: {}", Error::last_os_error());
                let own = signatures();
                for round in 0..ROUNDS {
                    yield_now();
                    ensure!(signatures() == own, "round {round}: other keys");
                }
                Ok(())
            })
        })
        .collect::<Result<_>>()?;
    children.into_iter().try_for_each(Child::join)
}

/// A key is disabled, or Linux says that it cannot be; never one without the other.
fn disabled(own: &[u64]) -> Result<()> {
    Child::start(|| {
        let refused = control(SET_ENABLED_KEYS, KEY_A, 0) != 0;
        yield_now();
        let found = signatures();
        let is_signed = found.iter().any(|it| it & CODE != 0);
        ensure!(
            refused == is_signed,
            "refused: {refused}, signed: {is_signed}"
        );
        ensure!(!refused || found == own, "the keys changed");
        Ok(())
    })?
    .join()
}
