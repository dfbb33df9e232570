// SPDX-License-Identifier: MIT OR Apache-2.0
//! Firmware calls on Linux's behalf. SMC and HVC stand in no other executable page.

use crate::checks::{Checks, Configured};
use donjon_abi::call::Error;
use donjon_abi::call::Reason;
use donjon_abi::layout::cpu_index;
use donjon_core::cpu::firmware_calls::{self, Decision};
use donjon_hal::firmware::{self, NOT_SUPPORTED};
use donjon_hal::steps::Executor;
use donjon_hal::{cpu, registers};

use crate::outcome::{Arguments, Outcome, Refusal};
use crate::state::MachineInfo;
use crate::{compartments, domain, parked, secondary_entry, state, user_tables};

/// Makes a call that is on the list.
fn pass(machine: &MachineInfo, function: u32, arguments: [u64; 3]) -> u64 {
    let value = match parked::of(machine) {
        Some(parked) => parked::firmware(machine, parked, function, arguments),
        // SAFETY: the list names calls that only ask, or stop the machine.
        None => unsafe { firmware::call(machine.conduit, function, arguments) },
    };
    value as u64
}

/// Passes a call on if it is on the list. What is not looks like what the firmware lacks.
pub fn firmware([function, arguments @ ..]: &Arguments) -> Outcome {
    let machine = state::machine().ok_or(Error::Busy)?;
    let arguments = [arguments[0], arguments[1], arguments[2]];
    match firmware_calls::decide(*function, arguments[0]) {
        Decision::Refuse if !Configured::FIRMWARE.is_made() => {
            // SAFETY: none; this shows what the list is good for.
            let value = unsafe { firmware::call(machine.conduit, *function as u32, arguments) };
            Ok(value as u64)
        }
        Decision::Pass(function) => Ok(pass(machine, function, arguments)),
        Decision::Stop(function) => {
            // Held to the end: no frame becomes a compartment's any more.
            let _domain = domain::lock()?;
            compartments::stop()?;
            pass(machine, function, arguments);
            panic!("the firmware did not stop the machine: function {function:#x}");
        }
        Decision::CpuOff(function) => {
            // The CPU has no root from here on, whatever the firmware says.
            let here = cpu_index(cpu::mpidr());
            match user_tables::live() {
                Some(users) => users.tables.leave(&mut Executor, here),
                None => registers::set_ttbr0(machine.boot.reserved_root),
            }
            let mut domain = domain::lock()?;
            domain.rendezvous.goes(here);
            drop(domain);
            if parked::of(machine).is_some() {
                secondary_entry::arrive_again();
            }
            // SAFETY: the CPU stops here and comes back through the page that stays alone.
            let value = unsafe { firmware::call(machine.conduit, function, [0; 3]) };
            // The firmware did not stop it, so text waits for it again.
            let Ok(mut domain) = domain::lock() else {
                cpu::halt();
            };
            domain.rendezvous.arrives(here);
            Ok(value as u64)
        }
        Decision::NotSupported => Ok(NOT_SUPPORTED as u64),
        Decision::Refuse => Err(Refusal::rule(Reason::BadFirmwareCall)),
    }
}
