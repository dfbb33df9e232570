// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lets CPUs wait inside while one CPU changes text.

use core::hint;
use core::sync::atomic::{AtomicU64, Ordering};

use donjon_abi::layout::cpu_index;
use donjon_hal::cpu;

use crate::domain;
use crate::outcome::{Arguments, Outcome};

/// How often a CPU looks whether the change is made before it leaves and has to come again. Every
/// CPU has to be inside at a time, so each should be inside for much longer than it takes to leave
/// and come back, which an emulator makes long. No interrupt waits longer for it: Linux has them
/// off until the change is made.
const LOOKS: u32 = 25_000;

/// Changes for which other CPUs came to wait. It only ends the waiting early; who may leave is
/// decided by the lock.
static CHANGES: AtomicU64 = AtomicU64::new(0);

/// Notes a change. The caller holds the lock, and the change is complete.
pub fn note_change() {
    CHANGES.fetch_add(1, Ordering::Release);
}

/// Stays inside until text has changed, or for a bounded while; how many changes there were.
///
/// From the first time that it holds the lock to the second, this CPU counts as waiting and
/// executes nothing of the outer domain. A writer that holds the lock between the two keeps it
/// until the change is complete. The gate's ISB on the way out comes behind the second.
pub fn wait(_: &Arguments) -> Outcome {
    let here = cpu_index(cpu::mpidr());
    let mut domain = domain::lock_after_handover()?;
    domain.rendezvous.waits(here);
    let before = CHANGES.load(Ordering::Relaxed);
    drop(domain);
    for _ in 0..LOOKS {
        if CHANGES.load(Ordering::Relaxed) != before {
            break;
        }
        hint::spin_loop();
    }
    // The state is there for good, or the first lock would have failed. Without the second one
    // this CPU must not leave.
    let Ok(mut domain) = domain::lock() else {
        cpu::halt();
    };
    domain.rendezvous.leaves(here);
    Ok(CHANGES.load(Ordering::Relaxed).wrapping_sub(before))
}
