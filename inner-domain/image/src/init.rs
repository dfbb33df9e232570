// SPDX-License-Identifier: MIT OR Apache-2.0
//! Once, before Linux starts.

use donjon_abi::boot_info::{Bank, BootInfo, Conduit};
use donjon_abi::manifest::SwitchMode;
use donjon_core::cpus::CpuSet;
use donjon_core::outer_range::OuterMemory;
use donjon_core::placement::Range;

use crate::state::{self, Machine};
use crate::{gate, heap, journal};

/// Called by the boot stage with the inner view live, on the boot stage's stack.
///
/// # Safety
///
/// Called once, with a filled-in `BootInfo` that is mapped, and with the windows of
/// `donjon_abi::layout` mapped as they say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn donjon_inner_init(boot: *const BootInfo) {
    // SAFETY: the boot stage filled it in and calls this once.
    let boot = unsafe {
        heap::HEAP.init();
        *boot
    };
    journal::init(boot.has_console != 0);

    let Some(machine) = machine(boot) else {
        panic!("the boot stage described an impossible machine: {boot:x?}");
    };
    let machine = state::set(machine);
    log::info!(
        "inner domain {} runs, switch {}, {} CPUs, memory {:#x}-{:#x}",
        env!("CARGO_PKG_VERSION"),
        gate::SWITCH_MODE.name(),
        machine.cpus.count(),
        machine.boot.region.start,
        machine.boot.region.end - 1
    );
    if gate::WEAKENED != 0 {
        log::warn!("this build is weakened on purpose: {:#x}", gate::WEAKENED);
    }
    journal::leave_console();
}

fn machine(boot: BootInfo) -> Option<Machine> {
    if SwitchMode::from_word(boot.switch_mode) != Some(gate::SWITCH_MODE) {
        return None;
    }
    let range = |bank: &Bank| Range::new(bank.start, bank.end);
    let region = range(&boot.region)?;
    let mut banks = [region; donjon_abi::boot_info::MAX_BANKS];
    let mut used = 0;
    for bank in boot.banks.iter().filter(|bank| bank.start < bank.end) {
        banks[used] = range(bank)?;
        used += 1;
    }
    let withheld = [region, range(&boot.stays)?, range(&boot.table_block)?];
    let outer = OuterMemory::new(&banks[..used], &withheld).ok()?;
    let count = usize::try_from(boot.cpu_count).ok()?;
    let cpus = CpuSet::new(boot.mpidrs.get(..count)?.iter().copied()).ok()?;
    Some(Machine {
        boot,
        outer,
        cpus,
        conduit: Conduit::from_word(boot.conduit),
    })
}
