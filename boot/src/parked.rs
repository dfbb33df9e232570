// SPDX-License-Identifier: MIT OR Apache-2.0
//! Takes CPUs out of the firmware's pen, before Linux starts.

use core::arch::asm;

use aarch64_cpu::registers::{CNTFRQ_EL0, CNTPCT_EL0, Readable};
use donjon_abi::layout::cpu_index;
use donjon_core::cpu::parked::WAITS;
use donjon_core::range::Range;
use donjon_hal::cpu;

use crate::assembly::boot_secondary;
use crate::device_tree::Cpu;
use crate::failure::Failure;

/// Releases all CPUs but this one, and waits until each is parked by the inner domain, at the
/// physical address `parked`. From then on no CPU reads the firmware's words.
///
/// # Safety
///
/// The inner domain is initialised, `stays` is the page with what a CPU needs that comes, and the
/// firmware's CPUs wait for the words that the device tree names.
pub unsafe fn release(cpus: &[Cpu], this: u64, parked: u64, stays: Range) -> Result<(), Failure> {
    // What they read with the MMU off.
    // SAFETY: RAM, covered by the identity map.
    unsafe { cpu::clean_to_coherency(stays.start(), stays.size()) };
    let others = || {
        cpus.iter()
            .filter(|it| cpu_index(it.affinity) != cpu_index(this))
    };
    for word in others().filter_map(|it| it.release) {
        let entry = (&raw const boot_secondary) as u64;
        // SAFETY: the device tree says that the firmware waits for this word, in RAM that the
        // identity map covers.
        unsafe {
            (word as *mut u64).write_volatile(entry);
            cpu::clean_to_coherency(word, 8);
        }
    }
    // SAFETY: an event has no other effect than to wake CPUs up.
    unsafe { asm!("sev", options(nostack)) };
    let start = CNTPCT_EL0.get();
    for it in others() {
        let cell = (parked + 8 * cpu_index(it.affinity) as u64) as *const u64;
        // SAFETY: a word of a page that the boot stage took for this.
        while unsafe { cell.read_volatile() } != WAITS {
            if CNTPCT_EL0.get().wrapping_sub(start) > 2 * CNTFRQ_EL0.get() {
                return Err(Failure::Pen(it.affinity));
            }
            // An emulator that runs one CPU at a time goes on to the next one here.
            // SAFETY: a hint.
            unsafe { asm!("yield", options(nomem, nostack, preserves_flags)) };
        }
    }
    Ok(())
}
