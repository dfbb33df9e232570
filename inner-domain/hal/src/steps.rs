// SPDX-License-Identifier: MIT OR Apache-2.0
//! Carries out what the rules decide: stores to tables, barriers, invalidations.
//!
//! Every invalidation is for all CPUs (inner shareable): CnP is 0, so no CPU answers for another.

use core::arch::asm;
use core::sync::atomic::{AtomicBool, Ordering};

use donjon_abi::layout::{PAGE_SIZE, PHYSMAP};
use donjon_core::compartment::{FLOW_OFFSET, Flow, Memory, PIECE};
use donjon_core::cpu::errata;
use donjon_core::translation::{Hardware, Step};

use crate::{cpu, physical, registers};

/// Hardware of the machine that runs this code: performs each step on it.
pub struct Executor;

/// Whether some CPU of this machine needs invalidations to be made twice.
static TWICE: AtomicBool = AtomicBool::new(false);

/// Takes the errata of this CPU's core into account, before the outer domain runs on it. The
/// caller holds the lock under which invalidations are made, or is alone. True if invalidations
/// are made twice from now on, and were not before.
pub fn consider_core() -> bool {
    errata::repeats_invalidations(cpu::midr()) && !TWICE.swap(true, Ordering::Relaxed)
}

/// One invalidation for all CPUs, with the DSB in between where it is made twice. The last DSB is a
/// step of its own.
macro_rules! invalidate {
    ($operation:literal $(, $operand:expr)?) => {{
        asm!(concat!("tlbi ", $operation) $(, in(reg) $operand)?, options(nostack));
        if TWICE.load(Ordering::Relaxed) {
            asm!(
                "dsb ish",
                concat!("tlbi ", $operation)
                $(, in(reg) $operand)?,
                options(nostack)
            );
        }
    }};
}

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

    #[inline(always)]
    fn read_two(&self, entry: u64) -> [u64; 2] {
        let (low, high);
        // SAFETY: the rules read entries of tables alone, which are RAM by their frames' type and
        // aligned; the physical view maps all RAM. Each of the two is read as a whole (DDI 0487,
        // B2.2.1, "Requirements for single-copy atomicity").
        unsafe {
            asm!(
                "ldp {}, {}, [{}]",
                lateout(reg) low,
                lateout(reg) high,
                in(reg) PHYSMAP + entry,
                options(nostack, readonly, preserves_flags)
            );
        }
        [low, high]
    }

    #[inline(always)]
    fn perform(&mut self, step: Step) {
        #[cfg(feature = "trace-steps")]
        let replaced = match step {
            Step::Write { entry, .. } => self.read(entry),
            _ => 0,
        };
        match step {
            Step::Write { entry, value } => {
                // SAFETY: an aligned entry of a table, by its frame's type; the physical view maps
                // it. That the value may stand there is what the rules decided.
                unsafe { ((PHYSMAP + entry) as *mut u64).write_volatile(value) }
            }
            Step::LoadRoot { ttbr0, .. } => registers::set_ttbr0(ttbr0),
            // SAFETY: barriers change no translation.
            Step::BarrierStore => unsafe { asm!("dsb ishst", options(nostack)) },
            // SAFETY: barriers change no translation.
            Step::Barrier => unsafe { asm!("dsb ish", "isb", options(nostack)) },
            // SAFETY: an invalidation changes no translation that the tables do not have.
            Step::InvalidatePage { asid, va } => unsafe {
                invalidate!("vale1is, {}", u64::from(asid) << 48 | operand(va))
            },
            // SAFETY: a frame that is zeroed is a table's, or one of a pool, by the rules.
            Step::ZeroFrame(frame) => unsafe { zero(PHYSMAP + frame, PAGE_SIZE) },
            other => perform_rare(other),
        }
        #[cfg(feature = "trace-steps")]
        crate::trace::step(step, replaced);
    }

    // One loop: a step for each takes 15 instructions more.
    #[inline(always)]
    fn zero_frames(&mut self, first: u64, count: u64) {
        // SAFETY: frames that are zeroed are tables', or those of a pool, by the rules.
        unsafe { zero(PHYSMAP + first, count * PAGE_SIZE) };
        #[cfg(feature = "trace-steps")]
        for index in 0..count {
            crate::trace::step(Step::ZeroFrame(first + index * PAGE_SIZE), 0);
        }
    }
}

impl Memory for Executor {
    fn copy_in(&mut self, from: u64, to: u64, seen: &mut [u8; PIECE]) {
        let mut words = [0_u64; PIECE / 8];
        // SAFETY: both are aligned pieces of frames of RAM: of ordinary memory, and of a private
        // frame that nothing but this compartment's tables will lead to.
        unsafe {
            physical::read_outer(from, &mut words);
            physical::write_private(to, &words);
        }
        for (bytes, word) in seen.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
    }

    fn copy_frame(&mut self, from: u64, to: u64) {
        let words = PAGE_SIZE as usize / 8;
        // SAFETY: two frames of RAM that the rules gave to compartments, one of them to nothing
        // else yet; the physical view maps both.
        unsafe {
            let from = (PHYSMAP + from) as *const u64;
            core::ptr::copy_nonoverlapping(from, (PHYSMAP + to) as *mut u64, words);
        }
    }

    fn copy(&mut self, from: u64, to: u64, bytes: u64) {
        // SAFETY: each in one frame of RAM that the rules gave to compartments, or that a
        // compartment shares with Linux, which may write it meanwhile; the physical view maps both.
        unsafe { physical::copy(from, to, bytes) };
    }

    fn make_executable(&mut self, frame: u64) {
        // SAFETY: a frame of RAM, which the physical view maps.
        unsafe { cpu::sync_icache_all_cpus(frame, PAGE_SIZE) };
    }

    fn flow(&mut self, context: u64) -> &mut Flow {
        // SAFETY: a private frame of a compartment's whose slot the caller has locked, so nothing
        // else refers to this part of it; the physical view maps it. Any content is a valid one.
        unsafe { &mut *((PHYSMAP + context + FLOW_OFFSET) as *mut Flow) }
    }
}

/// What takes longer than a call: out of the way of the lists.
#[inline(never)]
fn perform_rare(step: Step) {
    // SAFETY: barriers and invalidations change no translation that the tables do not have; a
    // frame that is zeroed or cleaned is a table's or the pool's, by the rules.
    unsafe {
        match step {
            Step::ZeroGroups { frame, groups } => zero_groups(PHYSMAP + frame, groups),
            Step::CleanFrame(frame) => cpu::clean_to_coherency(PHYSMAP + frame, PAGE_SIZE),
            Step::InvalidateLeaf { va } => invalidate!("vaale1is, {}", operand(va)),
            Step::InvalidateTable { va } => invalidate!("vaae1is, {}", operand(va)),
            Step::InvalidateAsid(asid) => invalidate!("aside1is, {}", u64::from(asid) << 48),
            Step::InvalidateAll => invalidate!("vmalle1is"),
            Step::Write { .. }
            | Step::ZeroFrame(_)
            | Step::InvalidatePage { .. }
            | Step::BarrierStore
            | Step::Barrier
            | Step::LoadRoot { .. } => {}
        }
    }
}

/// Fills groups of eight words of a page with zeros.
///
/// # Safety
///
/// The page is mapped, and nothing but a table that may be empty is in it.
unsafe fn zero_groups(page: u64, mut groups: u64) {
    while groups != 0 {
        let group = page + u64::from(groups.trailing_zeros()) * 64;
        groups &= groups - 1;
        // SAFETY: a group of a mapped page in which nothing but a table that may be empty is; a
        // page has 64 groups.
        unsafe {
            asm!(
                "stp xzr, xzr, [{at}]",
                "stp xzr, xzr, [{at}, #16]",
                "stp xzr, xzr, [{at}, #32]",
                "stp xzr, xzr, [{at}, #48]",
                at = in(reg) group,
                options(nostack, preserves_flags)
            );
        }
    }
}

/// Fills whole pages with zeros, by the blocks that DC ZVA takes where it may be used.
///
/// # Safety
///
/// The pages are mapped, and nothing but tables that may be empty is in them.
#[inline]
unsafe fn zero(start: u64, bytes: u64) {
    const PROHIBITED: u64 = 1 << 4;
    let blocks: u64;
    // SAFETY: reads an identification register, which is the same for as long as a call takes.
    unsafe { asm!("mrs {}, dczid_el0", out(reg) blocks, options(pure, nomem, nostack)) };
    // The size is a power of two words, from 4 to 2048 bytes by the architecture.
    let size = 4 << (blocks & 0xf);
    if blocks & PROHIBITED != 0 || size > PAGE_SIZE / 32 {
        // SAFETY: the loop writes these pages alone, which are mapped and have nothing but tables
        // that may be empty.
        unsafe {
            asm!(
                "2:",
                ".rept 64",
                "stp xzr, xzr, [{at}], #16",
                ".endr",
                "cmp {at}, {end}",
                "b.lo 2b",
                at = inout(reg) start => _,
                end = in(reg) start + bytes,
                options(nostack)
            );
        }
        return;
    }
    // SAFETY: the loop writes these pages alone, 32 blocks at a time; they are mapped and have
    // nothing but tables that may be empty.
    unsafe {
        asm!(
            "2:",
            ".rept 32",
            "dc zva, {at}",
            "add {at}, {at}, {size}",
            ".endr",
            "cmp {at}, {end}",
            "b.lo 2b",
            at = inout(reg) start => _,
            size = in(reg) size,
            end = in(reg) start + bytes,
            options(nostack)
        );
    }
}
