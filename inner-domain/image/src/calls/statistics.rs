// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counters.

use donjon_abi::call::{Counter, Error};
use donjon_hal::cpu;

use crate::outcome::{Arguments, Outcome};
use crate::per_cpu::PerCpu;
use crate::{state, user_tables};

/// Reads one counter of one function on one CPU. A caller that asks while the cycle counter runs
/// wants calls to be measured from then on.
pub fn statistics([cpu, function, counter, ..]: &Arguments) -> Outcome {
    let counter = Counter::from_number(*counter).ok_or(Error::InvalidArgument)?;
    let mask = state::machine().map_or(0, |machine| machine.cpus.mask());
    let known = u32::try_from(*cpu)
        .ok()
        .and_then(|cpu| mask.checked_shr(cpu))
        .is_some_and(|rest| rest & 1 == 1);
    if !known {
        return Err(Error::InvalidArgument.into());
    }
    if cpu::cycles().is_some() {
        user_tables::disable_fast_path();
    }
    // SAFETY: the index is in the mask of the CPUs that have a stack.
    let block = unsafe { PerCpu::of(*cpu as usize) };
    block
        .read(counter, *function)
        .ok_or(Error::InvalidArgument.into())
}
