// SPDX-License-Identifier: MIT OR Apache-2.0
//! What computations with secrets leave on this CPU's stack: copies that the compiler made, and
//! states of hashes. A reset keeps RAM, and what starts next may read it.

use core::arch::asm;

use donjon_abi::layout::{PAGE_SIZE, STACK_PAGES};

use crate::checks::{Checks, Configured};
use crate::per_cpu::PerCpu;

/// Does work in a frame of its own, and fills all of the stack below the caller's frame with zeros.
/// What the work gives back is for the caller to wipe.
#[inline]
pub fn wiped<T>(work: impl FnOnce() -> T) -> T {
    #[inline(never)]
    fn apart<T>(work: impl FnOnce() -> T) -> T {
        work()
    }
    let result = apart(work);
    if Configured::WIPE.is_made() {
        wipe();
    }
    result
}

/// Fills the stack from its lowest address up to SP with zeros, by the blocks that DC ZVA takes
/// where it may be used. It takes some 700 instructions, or 1,700 without DC ZVA.
#[inline(always)]
fn wipe() {
    let block: *const PerCpu = PerCpu::current();
    let lowest = block as u64 - STACK_PAGES * PAGE_SIZE;
    // SAFETY: what lies below SP is used by no function that has not returned, and from the lowest
    // address on the boot stage has mapped it. A block of DC ZVA has at most 2048 bytes and is
    // aligned, as the lowest address is.
    unsafe {
        asm!(
            "mov    {end}, sp",
            "mrs    {size}, dczid_el0",
            "tbnz   {size}, #4, 5f",
            "and    {size}, {size}, #0xf",
            "mov    {last}, #4",
            "lsl    {size}, {last}, {size}",
            // Eight blocks at a time, as long as there are so many.
            "sub    {last}, {end}, {size}, lsl #3",
            "2:",
            "cmp    {at}, {last}",
            "b.hi   4f",
            ".rept 8",
            "dc     zva, {at}",
            "add    {at}, {at}, {size}",
            ".endr",
            "b      2b",
            "4:",
            "sub    {last}, {end}, {size}",
            "3:",
            "cmp    {at}, {last}",
            "b.hi   5f",
            "dc     zva, {at}",
            "add    {at}, {at}, {size}",
            "b      3b",
            // SP is a multiple of 16, and so is what is left.
            "5:",
            "sub    {last}, {end}, #64",
            "6:",
            "cmp    {at}, {last}",
            "b.hi   7f",
            "stp    xzr, xzr, [{at}], #16",
            "stp    xzr, xzr, [{at}], #16",
            "stp    xzr, xzr, [{at}], #16",
            "stp    xzr, xzr, [{at}], #16",
            "b      6b",
            "7:",
            "cmp    {at}, {end}",
            "b.hs   8f",
            "stp    xzr, xzr, [{at}], #16",
            "b      7b",
            "8:",
            at = inout(reg) lowest => _,
            end = out(reg) _,
            size = out(reg) _,
            last = out(reg) _,
        );
    }
}
