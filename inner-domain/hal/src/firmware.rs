// SPDX-License-Identifier: MIT OR Apache-2.0
//! PSCI.

use donjon_abi::boot_info::Conduit;
use smccc::{Hvc, Smc, psci};

/// Switches a CPU on. Returns 0 or the firmware's error, a negative number.
///
/// # Safety
///
/// `entry` is the physical address of code that can run with the MMU off and `context` in x0.
pub unsafe fn cpu_on(conduit: Conduit, mpidr: u64, entry: u64, context: u64) -> i64 {
    let result = match conduit {
        Conduit::Hvc => psci::cpu_on::<Hvc>(mpidr, entry, context),
        Conduit::Smc => psci::cpu_on::<Smc>(mpidr, entry, context),
        Conduit::None | Conduit::Emulated => Err(psci::Error::NotSupported),
    };
    match result {
        Ok(()) => 0,
        Err(error) => error.into(),
    }
}

/// Switches the machine off. Returns only where that is not possible.
pub fn system_off(conduit: Conduit) {
    let _ = match conduit {
        Conduit::Hvc => psci::system_off::<Hvc>(),
        Conduit::Smc => psci::system_off::<Smc>(),
        Conduit::None | Conduit::Emulated => Ok(()),
    };
}

/// Calls any firmware function. Returns x0.
///
/// # Safety
///
/// The function and its arguments have no effect on memory or on where a CPU goes on.
pub unsafe fn call(conduit: Conduit, function: u32, arguments: [u64; 3]) -> i64 {
    let mut registers = [0; 17];
    registers[..3].copy_from_slice(&arguments);
    let result = match conduit {
        Conduit::Hvc => smccc::hvc64(function, registers),
        Conduit::Smc => smccc::smc64(function, registers),
        Conduit::None | Conduit::Emulated => return NOT_SUPPORTED,
    };
    result[0] as i64
}

/// What the firmware says to a function that it does not have (SMCCC, DEN 0028).
pub const NOT_SUPPORTED: i64 = -1;
