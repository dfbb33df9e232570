// SPDX-License-Identifier: MIT OR Apache-2.0
//! The entry point from assembly into Rust.

use crate::assembly;
use crate::failure::Failure;
use crate::sequence::{self, Handover};
use crate::stop::fail;

/// Called by `start.S` with the identity map live.
#[unsafe(no_mangle)]
extern "C" fn boot_main(device_tree: u64, image: u64, level: u64) -> Handover {
    let ran = sequence::run(device_tree, image, level);
    // First: too small a stack may be why something else failed.
    match check_stack().and(ran) {
        Ok(handover) => handover,
        Err(failure) => fail(&failure),
    }
}

/// Looks whether the stack was large enough, for this stage and for the inner domain's
/// initialisation: if it was not, its lowest page is most likely not as zero as it was, and the
/// tables below it may be damaged.
fn check_stack() -> Result<(), Failure> {
    // SAFETY: the page is the boot stage's own, and nothing refers to it but the stack pointer,
    // which is far above.
    let guard = unsafe { core::ptr::read_volatile(&raw const assembly::boot_stack_start) };
    match guard.iter().all(|word| *word == 0) {
        true => Ok(()),
        false => Err(Failure::Stack),
    }
}

/// Called by the boot stage's own vectors.
#[unsafe(no_mangle)]
extern "C" fn boot_exception(esr: u64, elr: u64, far: u64) -> ! {
    fail(&format_args!(
        "exception in the boot stage, ESR_EL1 {esr:#x} ELR_EL1 {elr:#x} FAR_EL1 {far:#x}"
    ))
}
