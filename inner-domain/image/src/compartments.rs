// SPDX-License-Identifier: MIT OR Apache-2.0
//! The compartments of this machine.

use core::sync::atomic::{AtomicBool, Ordering};

use crate::checks::{Checks, Configured};
use donjon_abi::boot_info::Bank;
use donjon_abi::call::{Error, Reason};
use donjon_abi::layout::PHYSMAP;
use donjon_core::compartment::{Compartments, wipe_all};
use donjon_core::memory::private::PrivateFrames;
use donjon_hal::cpu;
use donjon_hal::steps::Executor;
use spin::Once;

use crate::outcome::Refusal;
use crate::{attestation, state, user_tables};

static COMPARTMENTS: Once<Compartments<'static>> = Once::new();
static FRAMES: Once<PrivateFrames<'static>> = Once::new();

/// Stores the compartments, and what tells which frames they have. Later calls change nothing.
pub fn set(compartments: Compartments<'static>, frames: PrivateFrames<'static>) {
    COMPARTMENTS.call_once(|| compartments);
    FRAMES.call_once(|| frames);
}

/// Wipes what they have, and the secrets that their keys come from, before Linux stops the machine.
/// Refused while one runs.
pub fn stop() -> Result<(), Refusal> {
    // Before the hand-over there are none.
    if let (Ok(compartments), Some(frames)) = (get(), FRAMES.get()) {
        compartments
            .stop(&mut Executor, frames)
            .map_err(Refusal::rule)?;
    }
    forget();
    Ok(())
}

/// Wipes secrets, and writes zeros of the inner memory back that may stand in caches alone: these,
/// and those of stacks and slots, which were wiped when they had been used.
fn forget() {
    if !Configured::WIPE.is_made() {
        return;
    }
    attestation::forget();
    if let Some(machine) = state::machine() {
        let Bank { start, end } = machine.boot.region;
        // SAFETY: the physical view maps all of RAM, the inner memory included. Cleaning changes no
        // content.
        unsafe { cpu::clean_to_coherency(PHYSMAP + start, end - start) };
    }
}

/// Wipes what they have, once, where the inner domain itself stops the machine. It takes no lock,
/// since this CPU may hold it. A compartment that runs on another CPU meanwhile may keep what it
/// stores behind this; it is left for good when it does anything else than compute.
pub fn wipe() {
    static WIPED: AtomicBool = AtomicBool::new(false);
    if let Some(frames) = FRAMES.get()
        && !WIPED.swap(true, Ordering::Relaxed)
    {
        wipe_all(&mut Executor, frames);
        forget();
    }
}

/// The compartments, for calls that mean nothing before the hand-over.
pub fn get() -> Result<&'static Compartments<'static>, Refusal> {
    if user_tables::live().is_none() {
        return Err(Refusal::rule(Reason::WrongTime));
    }
    COMPARTMENTS.get().ok_or(Error::Busy.into())
}
