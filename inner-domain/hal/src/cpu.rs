// SPDX-License-Identifier: MIT OR Apache-2.0
//! The executing CPU: its number, what its registers say, how it stops.

use core::arch::asm;

use donjon_abi::layout::PHYSMAP;

use aarch64_cpu::registers::{ELR_EL1, ESR_EL1, FAR_EL1, Readable, SPSR_EL1, TPIDR_EL0, TPIDR_EL1};

pub use crate::cpu_id::{midr, mpidr};

/// The cycle counter, or none while it does not count (`PMCR_EL0.E` clear) or does not exist.
pub fn cycles() -> Option<u64> {
    const ENABLE: u64 = 1;
    let (features, control, cycles): (u64, u64, u64);
    // SAFETY: reads an identification register.
    unsafe { asm!("mrs {}, id_aa64dfr0_el1", out(reg) features, options(nomem, nostack)) };
    // PMUVer: 0 is none, 15 is one that is not the architecture's.
    if matches!(features >> 8 & 0xf, 0 | 0xf) {
        return None;
    }
    // SAFETY: reads two performance monitor registers, which this CPU has.
    unsafe {
        asm!("mrs {}, pmcr_el0", out(reg) control, options(nomem, nostack, preserves_flags));
        if control & ENABLE == 0 {
            return None;
        }
        asm!("mrs {}, pmccntr_el0", out(reg) cycles, options(nomem, nostack, preserves_flags));
    }
    Some(cycles)
}

/// Makes table entries that this CPU wrote visible to table walks of all CPUs, before anything
/// that follows.
pub fn dsb_ishst() {
    // SAFETY: a barrier has no other effect.
    unsafe { asm!("dsb ishst", options(nostack)) };
    #[cfg(feature = "trace-steps")]
    crate::trace::step(donjon_core::translation::Step::BarrierStore, 0);
}

/// Makes code that was written through another mapping visible to instruction fetches of all
/// CPUs, at whatever address they know it: clean, then drop what the instruction caches hold (all
/// of it: they may be indexed by virtual address).
///
/// The point of unification would do, and DC CVAU. But cleaning without invalidating may go wrong
/// on early Cortex-A53 (819472, 824069, 826319, 827319); DC CIVAC does more, and right everywhere.
///
/// # Safety
///
/// The range is RAM.
pub unsafe fn sync_icache_all_cpus(physical: u64, bytes: u64) {
    // SAFETY: the range is RAM, which the physical view maps as a whole. Its barrier waits for the
    // cleaning; invalidation of instruction caches changes no content.
    unsafe {
        clean_to_coherency(PHYSMAP + physical, bytes);
        asm!("ic ialluis", "dsb ish", "isb", options(nostack));
    }
}

/// What the registers say about the exception that led to a stop.
#[derive(Clone, Copy, Debug)]
pub struct ExceptionRegisters {
    /// Where it was taken.
    pub elr: u64,
    /// Why.
    pub esr: u64,
    /// Address of the access, if there was one.
    pub far: u64,
    /// PSTATE before.
    pub spsr: u64,
    /// `TCR_EL1` that the gate or the vectors found.
    pub tcr: u64,
    /// x0 at that time.
    pub x0: u64,
}

/// Reads the registers of an exception after the gate's repair path, which leaves the last two in
/// `TPIDR_EL0` and `TPIDR_EL1`.
pub fn exception_registers() -> ExceptionRegisters {
    ExceptionRegisters {
        elr: ELR_EL1.get(),
        esr: ESR_EL1.get(),
        far: FAR_EL1.get(),
        spsr: SPSR_EL1.get(),
        tcr: TPIDR_EL0.get(),
        x0: TPIDR_EL1.get(),
    }
}

/// Stops this CPU for good. Interrupts stay masked, so the wait never ends in one being taken.
pub fn halt() -> ! {
    loop {
        // SAFETY: masks exceptions and waits; touches no memory.
        unsafe { asm!("msr daifset, #0xf", "wfi", options(nomem, nostack)) };
    }
}

/// Makes all earlier memory accesses of this CPU visible to the other CPUs and to table walks.
pub fn dsb_ish() {
    // SAFETY: barriers have no other effect.
    unsafe { asm!("dsb ish", "isb", options(nostack)) };
}

/// Makes code in a range, which was written as data, visible to instruction fetches of this CPU:
/// clean to memory, then drop what the instruction cache may hold.
///
/// # Safety
///
/// The whole range is mapped.
pub unsafe fn sync_icache_this_cpu(start: u64, bytes: u64) {
    // SAFETY: the caller maps the range; maintenance and barriers change no content.
    unsafe {
        clean_to_coherency(start, bytes);
        asm!("ic iallu", "dsb ish", "isb", options(nostack));
    }
}

/// Cleans and invalidates the data cache lines of a range to the point of coherency.
///
/// # Safety
///
/// The whole range is mapped.
pub unsafe fn clean_to_coherency(start: u64, bytes: u64) {
    let line = {
        let ctr: u64;
        // SAFETY: reads the cache type register.
        unsafe { asm!("mrs {}, ctr_el0", out(reg) ctr, options(nomem, nostack)) };
        4u64 << (ctr >> 16 & 0xf)
    };
    let mut address = start & !(line - 1);
    while address + 8 * line <= start + bytes {
        // SAFETY: the caller maps these eight lines of the range; cleaning changes no content.
        unsafe {
            asm!(
                ".rept 8",
                "dc civac, {address}",
                "add {address}, {address}, {line}",
                ".endr",
                address = inout(reg) address,
                line = in(reg) line,
                options(nostack)
            );
        }
    }
    while address < start + bytes {
        // SAFETY: the caller maps the range; cleaning changes no content.
        unsafe { asm!("dc civac, {}", in(reg) address, options(nostack)) };
        address += line;
    }
    wait_for_accesses();
}

/// Waits until all accesses before it are complete, to memory and to devices (DSB SY).
pub fn wait_for_accesses() {
    // SAFETY: a barrier has no other effect.
    unsafe { asm!("dsb sy", options(nostack)) };
}
