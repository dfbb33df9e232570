// SPDX-License-Identifier: MIT OR Apache-2.0
//! Signals that end a run under flow attestation instead of this process.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use nix::libc::{alarm, c_int};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

/// Signals that end a run, which is attested up to there. Each of them ends this process the second
/// time.
const CUTS: [Signal; 2] = [Signal::SIGINT, Signal::SIGTERM];

/// Whether one of the signals has come.
static IS_CUT: AtomicBool = AtomicBool::new(false);

/// Says whether a signal has ended the run.
pub fn is_cut() -> bool {
    IS_CUT.load(Ordering::Relaxed)
}

/// Lets a signal end the run instead of this process, unless it was ignored before.
pub fn cut_the_run() -> Result<()> {
    extern "C" fn cut(_: c_int) {
        IS_CUT.store(true, Ordering::Relaxed);
        // A signal just before a system call does not interrupt it: another one follows.
        // SAFETY: `alarm` may be called by a handler, and changes no memory.
        unsafe { alarm(1) };
    }
    // Reading input must end as well, so system calls do not start again.
    let set = |signal, flags| {
        let action = SigAction::new(SigHandler::Handler(cut), flags, SigSet::empty());
        // SAFETY: the handler stores to an atomic and calls `alarm`, both possible at any point.
        unsafe { sigaction(signal, &action) }.context("waiting for signals")
    };
    set(Signal::SIGALRM, SaFlags::empty())?;
    for signal in CUTS {
        let former = set(signal, SaFlags::SA_RESETHAND)?;
        if matches!(former.handler(), SigHandler::SigIgn) {
            // SAFETY: no handler of this program's runs.
            unsafe { sigaction(signal, &former) }.context("ignoring a signal")?;
        }
    }
    Ok(())
}
