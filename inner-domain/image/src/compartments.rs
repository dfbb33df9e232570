// SPDX-License-Identifier: MIT OR Apache-2.0
//! The compartments of this machine.

use donjon_abi::call::{Error, Reason};
use donjon_core::compartment::Compartments;
use spin::Once;

use crate::outcome::Refusal;
use crate::users;

static COMPARTMENTS: Once<Compartments<'static>> = Once::new();

/// Stores them. The first ones stay.
pub fn set(compartments: Compartments<'static>) {
    COMPARTMENTS.call_once(|| compartments);
}

/// The compartments, for calls that mean nothing before the hand-over.
pub fn get() -> Result<&'static Compartments<'static>, Refusal> {
    if users::live().is_none() {
        return Err(Refusal::rule(Reason::WrongTime));
    }
    COMPARTMENTS.get().ok_or(Error::Busy.into())
}
