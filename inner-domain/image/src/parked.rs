// SPDX-License-Identifier: MIT OR Apache-2.0
//! A machine whose CPUs the inner domain keeps, because no firmware does: PSCI in its place.

use core::arch::asm;

use donjon_abi::boot_info::Conduit;
use donjon_abi::layout::cpu_index;
use donjon_core::cpu::parked::{Answer, ParkedCpus, UNKNOWN_CPU, answer};
use donjon_hal::watchdog::Watchdog;
use donjon_hal::{cpu, firmware};

use crate::state::{self, MachineInfo};

/// Where the CPUs of this machine wait, if the inner domain keeps them.
pub fn of(machine: &MachineInfo) -> Option<&'static ParkedCpus> {
    if machine.conduit != Conduit::Emulated {
        return None;
    }
    // SAFETY: the boot stage took a zeroed page of the inner memory for this, and the physical
    // view maps it for good. All fields are atomic, for which zeros are valid.
    Some(unsafe {
        &*((donjon_abi::layout::PHYSMAP + machine.boot.parked_cpus) as *const ParkedCpus)
    })
}

/// Says that this CPU, which boots the machine, runs.
pub fn take_over(machine: &MachineInfo) {
    if let Some(parked) = of(machine) {
        parked.set_running(cpu_index(cpu::mpidr()));
    }
}

/// Waits until this CPU, which has just come, is called. Returns at once where firmware keeps the
/// CPUs.
///
/// While it waits it fetches and reads inner memory alone, takes no interrupt, and answers
/// invalidations of other CPUs. An event wakes it up (DDI 0487, D1.6.1), after a store that it then
/// sees.
pub fn wait() {
    let Some(machine) = state::machine() else {
        return;
    };
    let Some(parked) = of(machine) else {
        return;
    };
    let Some(index) = machine.cpus.index(cpu::mpidr()) else {
        log::error!("CPU {:#x} is not in the device tree", cpu::mpidr());
        cpu::halt();
    };
    parked.park(index);
    while !parked.take_release(index) {
        // SAFETY: this waits for an event, or not at all.
        unsafe { asm!("wfe", options(nomem, nostack, preserves_flags)) };
    }
}

/// Starts a CPU that waits. Returns 0 or the error of CPU_ON.
pub fn release(parked: &ParkedCpus, index: usize) -> i64 {
    match parked.release(index) {
        Ok(()) => {
            // SAFETY: the store is seen before the event; an event changes no memory.
            unsafe { asm!("dsb ish", "sev", options(nostack, preserves_flags)) };
            0
        }
        Err(error) => error,
    }
}

/// What firmware would answer.
pub fn firmware(
    machine: &MachineInfo,
    parked: &ParkedCpus,
    function: u32,
    arguments: [u64; 3],
) -> i64 {
    let [first, second, _] = arguments;
    match answer(function, [first, second]) {
        Answer::Value(value) => value,
        Answer::AffinityInfo => match machine.cpus.index(first) {
            Some(index) => parked.affinity_info(index),
            None => UNKNOWN_CPU,
        },
        Answer::PowerOff => {
            system_off(machine);
            cpu::halt()
        }
        Answer::Reset => {
            if let Some(watchdog) = watchdog(machine) {
                watchdog.reset();
            }
            cpu::halt()
        }
    }
}

/// Switches the machine off. Returns where that is not possible, and before it happens.
pub fn system_off(machine: &MachineInfo) {
    match watchdog(machine) {
        Some(watchdog) => watchdog.power_off(),
        None => firmware::system_off(machine.conduit),
    }
}

fn watchdog(machine: &MachineInfo) -> Option<Watchdog> {
    // SAFETY: the boot stage mapped it there for good; Linux may map none of its page.
    unsafe { Watchdog::new(machine.boot.watchdog) }
}
