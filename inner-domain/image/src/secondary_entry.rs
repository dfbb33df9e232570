// SPDX-License-Identifier: MIT OR Apache-2.0
//! A CPU that was switched on: `secondary_entry.S` and what it asks Rust.

use core::arch::global_asm;

use donjon_abi::layout;
use donjon_core::cpu::requirements;
use donjon_hal::{cpu, registers, steps};

use crate::gate::INNER;
use crate::{domain, panic_report, parked, state};

global_asm!(
    include_str!("secondary_entry.S"),
    INNER = const INNER,
    CPU_INDEX_SHIFT = const layout::CPU_INDEX_SHIFT,
    CPU_INDEX_MASK = const layout::MAX_CPUS - 1,
    STACK_STRIDE_SHIFT = const layout::STACK_STRIDE_SHIFT,
);

unsafe extern "C" {
    fn donjon_arrive() -> !;
}

/// Where the page that stays sends a CPU, a virtual address.
pub fn entry() -> u64 {
    donjon_arrive as *const () as u64
}

/// Restarts a CPU that is off the list of running CPUs, as if the firmware had switched it on. Its
/// stack begins anew.
pub fn arrive_again() -> ! {
    // SAFETY: it masks exceptions, stays in the inner view and begins with an empty stack. What
    // stood on the stack is not used again: nothing of it has to be dropped.
    unsafe { donjon_arrive() }
}

/// Loads the registers of a CPU that arrives and tells where it goes on. A CPU that no call
/// asked for stops here.
#[unsafe(no_mangle)]
extern "C" fn donjon_arrived() -> u64 {
    panic_report::join_if_stopping();
    parked::wait();
    panic_report::join_if_stopping();
    let (Some(machine), Ok(mut domain)) = (state::machine(), domain::lock()) else {
        cpu::halt();
    };
    let mpidr = cpu::mpidr();
    let index = machine.cpus.index(mpidr);
    let asked = index.and_then(|index| domain.start_requests[index].take());
    let (Some(index), Some(asked)) = (index, asked) else {
        drop(domain);
        log::error!("CPU {mpidr:#x} arrived without being asked for");
        cpu::halt();
    };
    // It may be of another kind than the first one.
    if let Some(unmet) = requirements::unmet(registers::memory_features()).next() {
        drop(domain);
        log::error!("CPU {mpidr:#x} does not come up: {unmet}");
        cpu::halt();
    }
    let twice = steps::consider_core();
    // Text that changes from here on waits for this CPU. What changed before is complete: the
    // lock was taken behind it, and the gate has an ISB before anything of it is fetched.
    domain.rendezvous.arrives(index);
    let (entry, saved) = asked.start_with(domain.registers);
    registers::close_extensions();
    // SAFETY: read on the CPU that asked, or at the hand-over.
    unsafe { registers::load_translation(&saved) };
    // Last: who looks from outside takes a CPU with the lower half of its arrival for one that
    // still arrives. Nothing walks the lower range here.
    registers::set_ttbr0(machine.boot.reserved_root);
    // Not before: a hand-over in between would record other registers.
    drop(domain);
    if twice {
        log::info!("TLB invalidations are made twice from here on");
    }
    entry
}
