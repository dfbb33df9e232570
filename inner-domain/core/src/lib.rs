// SPDX-License-Identifier: MIT OR Apache-2.0
//! The inner domain's decisions, free of hardware.
//!
//! Nothing here executes an instruction that the host lacks, touches a device or allocates, so
//! the same code runs in the boot stage, in the inner domain, in host tests and under Miri.
//! What it decides, the hardware layer carries out.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod checks;
pub mod code;
pub mod compartment;
pub mod cpu;
pub mod devices;
pub mod dma;
pub mod handover;
pub mod kernel_tables;
pub mod memory;
pub mod pools;
pub mod range;
pub mod report;
pub mod translation;
pub mod user_tables;
