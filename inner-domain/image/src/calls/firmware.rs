// SPDX-License-Identifier: MIT OR Apache-2.0
//! Firmware calls on Linux's behalf. SMC and HVC stand in no other executable page.

use donjon_abi::call::Error;
use donjon_abi::call::Reason;
use donjon_abi::layout::cpu_index;
use donjon_core::firmware_calls::{self, Decision};
use donjon_hal::firmware::{self, NOT_SUPPORTED};
use donjon_hal::registers;

use crate::outcome::{Arguments, Outcome, Refusal};
use crate::{domain, state};

/// Passes a call on if it is on the list. What is not looks like what the firmware lacks.
pub fn firmware([function, arguments @ ..]: &Arguments) -> Outcome {
    let machine = state::machine().ok_or(Error::Busy)?;
    let arguments = [arguments[0], arguments[1], arguments[2]];
    match firmware_calls::decide(*function, arguments[0]) {
        Decision::Refuse if cfg!(feature = "weaken-firmware") => {
            // SAFETY: none; this shows what the list is good for.
            let value = unsafe { firmware::call(machine.conduit, *function as u32, arguments) };
            Ok(value as u64)
        }
        Decision::Pass(function) => {
            // SAFETY: the list names calls that only ask, or stop the machine.
            let value = unsafe { firmware::call(machine.conduit, function, arguments) };
            Ok(value as u64)
        }
        Decision::CpuOff(function) => {
            // The CPU has no root from here on, whatever the firmware says.
            let cpu = cpu_index(registers::mpidr());
            registers::set_ttbr0(machine.boot.reserved_root);
            domain::lock()?.rules.cpu_gone(cpu);
            // SAFETY: the CPU stops here and comes back through the page that stays alone.
            let value = unsafe { firmware::call(machine.conduit, function, [0; 3]) };
            Ok(value as u64)
        }
        Decision::NotSupported => Ok(NOT_SUPPORTED as u64),
        Decision::Refuse => Err(Refusal::rule(Reason::BadFirmwareCall)),
    }
}
