// SPDX-License-Identifier: MIT OR Apache-2.0
//! Version negotiation.

use donjon_abi::call::{ABI_VERSION, Error};

use crate::outcome::{Arguments, Outcome, Refusal};

/// Gives our version; refuses a caller with another major half, and tells it ours.
pub fn version([theirs, ..]: &Arguments) -> Outcome {
    let ours = u64::from(ABI_VERSION);
    if theirs >> 16 == ours >> 16 {
        Ok(ours)
    } else {
        Err(Refusal::with_value(Error::IncompatibleVersion, ours))
    }
}
