// SPDX-License-Identifier: MIT OR Apache-2.0
//! System registers that Linux changes while it boots.

use donjon_abi::call::{Error, REGISTER_SCTLR, Reason};
use donjon_hal::registers;

use crate::domain;
use crate::outcome::{Arguments, Outcome, Refusal};

/// Writes SCTLR_EL1 before the hand-over. Afterwards only the value that was recorded then is
/// accepted: Linux applies the same features again on a CPU that comes back.
pub fn system_register([which, value, ..]: &Arguments) -> Outcome {
    if *which != REGISTER_SCTLR {
        return Err(Error::InvalidArgument.into());
    }
    match domain::lock()?.registers {
        // SAFETY: Linux is trusted until the hand-over.
        None => unsafe { registers::set_sctlr(*value) },
        Some(saved) if saved.sctlr == *value => {}
        Some(_) => return Err(Refusal::rule(Reason::BadRegister)),
    }
    Ok(0)
}
