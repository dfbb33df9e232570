// SPDX-License-Identifier: MIT OR Apache-2.0
//! Starting a CPU.

use donjon_abi::call::Error;
use donjon_core::outer_range::Allegation;
use donjon_hal::firmware;

use crate::outcome::{Arguments, Outcome, Refusal};
use crate::state;

/// Switches a CPU on at the boot stage's entry, which leaves EL2 as on the first CPU and goes on
/// to `entry` at EL1 with the MMU off.
pub fn cpu_on([mpidr, entry, ..]: &Arguments) -> Outcome {
    let machine = state::machine().ok_or(Error::Busy)?;
    // What the firmware gets is our own record of the CPU, not the caller's word.
    let mpidr = machine
        .cpus
        .index(*mpidr)
        .and_then(|index| machine.cpus.iter().find(|(known, _)| *known == index))
        .map(|(_, mpidr)| mpidr)
        .ok_or(Error::InvalidArgument)?;
    if entry % 4 != 0 {
        return Err(Error::BadAddress.into());
    }
    let entry = machine
        .outer
        .check(Allegation::new(*entry, 4))
        .map_err(|_| Error::BadAddress)?;
    // SAFETY: the boot stage put code there that takes the entry in x0 and needs no MMU.
    let status = unsafe {
        firmware::cpu_on(
            machine.conduit,
            mpidr,
            machine.boot.secondary_entry,
            entry.address(),
        )
    };
    match status {
        0 => Ok(0),
        error => Err(Refusal::with_value(Error::Firmware, error as u64)),
    }
}
