// SPDX-License-Identifier: MIT OR Apache-2.0
//! Argument registers, one at a time.

use donjon_abi::call::Error;

use crate::outcome::{Arguments, Outcome};

/// Gives back one of the five words after the first argument, which chooses.
pub fn echo([which, words @ ..]: &Arguments) -> Outcome {
    usize::try_from(*which)
        .ok()
        .and_then(|which| words.get(which).copied())
        .ok_or(Error::InvalidArgument.into())
}
