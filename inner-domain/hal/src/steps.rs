// SPDX-License-Identifier: MIT OR Apache-2.0
//! Carries out what the rules decide: stores to tables, barriers, invalidations.
//!
//! Every invalidation is for all CPUs (inner shareable): CnP is 0, so no CPU answers for another.

use core::arch::asm;

use donjon_abi::layout::{PAGE_SIZE, PHYSMAP};
use donjon_core::rules::{Hardware, Step};

use crate::cpu;

/// This machine.
pub struct Executor;

/// VA\[55:12\] in bits 43 to 0: the operand of TLBI by address (DDI 0487, C5.5).
const fn operand(va: u64) -> u64 {
    va >> 12 & ((1 << 44) - 1)
}

impl Hardware for Executor {
    #[inline]
    fn read(&self, entry: u64) -> u64 {
        // SAFETY: the rules read entries of tables alone, which are RAM by their frames' type and
        // aligned; the physical view maps all RAM.
        unsafe { ((PHYSMAP + entry) as *const u64).read_volatile() }
    }

    #[inline]
    fn perform(&mut self, step: Step) {
        #[cfg(feature = "trace-steps")]
        let replaced = match step {
            Step::Write { entry, .. } => self.read(entry),
            _ => 0,
        };
        match step {
            Step::Write { entry, value } => {
                // SAFETY: as for reading; that the value may stand there is what the rules
                // decided.
                unsafe { ((PHYSMAP + entry) as *mut u64).write_volatile(value) }
            }
            other => perform_rare(other),
        }
        #[cfg(feature = "trace-steps")]
        crate::trace::step(step, replaced);
    }
}

/// Everything but stores: out of the way of the lists.
#[inline(never)]
fn perform_rare(step: Step) {
    // SAFETY: barriers and invalidations change no translation that the tables do not have; a
    // frame that is zeroed or cleaned is a table's or the pool's, by the rules.
    unsafe {
        match step {
            Step::Write { entry, value } => ((PHYSMAP + entry) as *mut u64).write_volatile(value),
            Step::ZeroFrame(frame) => zero(PHYSMAP + frame),
            Step::CleanFrame(frame) => cpu::clean_to_coherency(PHYSMAP + frame, PAGE_SIZE),
            Step::BarrierStore => asm!("dsb ishst", options(nostack)),
            Step::Barrier => asm!("dsb ish", "isb", options(nostack)),
            Step::InvalidateLeaf { va } => {
                asm!("tlbi vaale1is, {}", in(reg) operand(va), options(nostack));
            }
            Step::InvalidateTable { va } => {
                asm!("tlbi vaae1is, {}", in(reg) operand(va), options(nostack));
            }
            Step::InvalidateAsid(asid) => {
                asm!("tlbi aside1is, {}", in(reg) u64::from(asid) << 48, options(nostack));
            }
            Step::InvalidateAll => asm!("tlbi vmalle1is", options(nostack)),
        }
    }
}

/// Fills a page with zeros: a tenth of the instructions that a loop over words takes, because a
/// release of many tables is the longest of all calls.
///
/// # Safety
///
/// The page is mapped, and nothing but tables that may be empty is in it.
unsafe fn zero(page: u64) {
    // SAFETY: the caller's promise; the loop writes one page.
    unsafe {
        asm!(
            "2: stp xzr, xzr, [{at}]",
            "stp xzr, xzr, [{at}, #16]",
            "stp xzr, xzr, [{at}, #32]",
            "stp xzr, xzr, [{at}, #48]",
            "stp xzr, xzr, [{at}, #64]",
            "stp xzr, xzr, [{at}, #80]",
            "stp xzr, xzr, [{at}, #96]",
            "stp xzr, xzr, [{at}, #112]",
            "add {at}, {at}, #128",
            "cmp {at}, {end}",
            "b.lo 2b",
            at = inout(reg) page => _,
            end = in(reg) page + PAGE_SIZE,
            options(nostack)
        );
    }
}
