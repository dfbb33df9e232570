// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which CPU this is, and which core it has.

use aarch64_cpu::registers::{MIDR_EL1, MPIDR_EL1, Readable};

/// `MPIDR_EL1` of this CPU.
pub fn mpidr() -> u64 {
    MPIDR_EL1.get()
}

/// `MIDR_EL1` of this CPU: which core it is.
pub fn midr() -> u64 {
    MIDR_EL1.get()
}
