// SPDX-License-Identifier: MIT OR Apache-2.0
//! The compartments of this machine.

use core::sync::atomic::{AtomicBool, Ordering};

use donjon_abi::call::{Error, Reason};
use donjon_core::compartment::{Compartments, wipe_all};
use donjon_core::private::PrivateFrames;
use donjon_hal::steps::Executor;
use spin::Once;

use crate::outcome::Refusal;
use crate::users;

static COMPARTMENTS: Once<Compartments<'static>> = Once::new();
static FRAMES: Once<PrivateFrames<'static>> = Once::new();

/// Stores them, and what tells which frames they have. The first ones stay.
pub fn set(compartments: Compartments<'static>, frames: PrivateFrames<'static>) {
    COMPARTMENTS.call_once(|| compartments);
    FRAMES.call_once(|| frames);
}

/// Wipes what they have before Linux stops the machine. Refused while one runs.
pub fn stop() -> Result<(), Refusal> {
    // Before the hand-over there are none.
    let (Ok(compartments), Some(frames)) = (get(), FRAMES.get()) else {
        return Ok(());
    };
    compartments
        .stop(&mut Executor, frames)
        .map_err(Refusal::rule)
}

/// Wipes what they have, once, where the inner domain itself stops the machine. It takes no lock,
/// since this CPU may hold it. A compartment that runs on another CPU meanwhile may keep what it stores
/// behind this; it is left for good when it does anything else than compute.
pub fn wipe() {
    static WIPED: AtomicBool = AtomicBool::new(false);
    if let Some(frames) = FRAMES.get()
        && !WIPED.swap(true, Ordering::Relaxed)
    {
        wipe_all(&mut Executor, frames);
    }
}

/// The compartments, for calls that mean nothing before the hand-over.
pub fn get() -> Result<&'static Compartments<'static>, Refusal> {
    if users::live().is_none() {
        return Err(Refusal::rule(Reason::WrongTime));
    }
    COMPARTMENTS.get().ok_or(Error::Busy.into())
}
