// SPDX-License-Identifier: MIT OR Apache-2.0
//! Starting a CPU.

use donjon_abi::call::Error;
use donjon_abi::tcr;
use donjon_core::cpu::secondary::StartRequest;
use donjon_hal::{firmware, registers};

use crate::outcome::{Arguments, Outcome, Refusal};
use crate::{domain, parked, state};

/// Switches a CPU on. It comes to [`crate::secondary_entry`] and from there to `entry`, in the
/// outer view. If it arrives before the hand-over, it gets the registers of the CPU that asks; from
/// then on those that were recorded, whenever it was asked for.
///
/// `entry` needs no check beyond its range: a caller of this can jump there as well.
pub fn cpu_on([mpidr, entry, ..]: &Arguments) -> Outcome {
    const UPPER: u64 = 64 - tcr::T1SZ_OUTER;
    let machine = state::machine().ok_or(Error::Busy)?;
    // What the firmware gets is our own record of the CPU, not the caller's word.
    let (index, mpidr) = machine
        .cpus
        .index(*mpidr)
        .and_then(|index| machine.cpus.iter().find(|(known, _)| *known == index))
        .ok_or(Error::InvalidArgument)?;
    if entry % 4 != 0 || entry >> UPPER != u64::MAX >> UPPER {
        return Err(Error::BadAddress.into());
    }
    // The last call decides where a CPU goes on that has not arrived yet.
    let mut domain = domain::lock()?;
    let (entry, registers) = (*entry, registers::translation());
    domain.start_requests[index] = Some(StartRequest { entry, registers });
    drop(domain);
    let status = match parked::of(machine) {
        Some(parked) => parked::release(parked, index),
        // SAFETY: the boot stage put code there that needs no MMU and no context.
        None => unsafe {
            firmware::cpu_on(machine.conduit, mpidr, machine.boot.secondary_entry, 0)
        },
    };
    match status {
        0 => Ok(0),
        error => Err(Refusal::with_value(Error::Firmware, error as u64)),
    }
}
