// SPDX-License-Identifier: MIT OR Apache-2.0
//! The entry point from assembly into Rust.

use crate::sequence::{self, Handover};
use crate::stop::fail;

/// Called by `start.S` with the identity map live.
#[unsafe(no_mangle)]
extern "C" fn boot_main(device_tree: u64, image: u64, level: u64) -> Handover {
    match sequence::run(device_tree, image, level) {
        Ok(handover) => handover,
        Err(failure) => fail(&failure),
    }
}

/// Called by the boot stage's own vectors.
#[unsafe(no_mangle)]
extern "C" fn boot_exception(esr: u64, elr: u64, far: u64) -> ! {
    fail(&format_args!(
        "exception in the boot stage, ESR_EL1 {esr:#x} ELR_EL1 {elr:#x} FAR_EL1 {far:#x}"
    ))
}
