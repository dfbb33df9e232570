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

pub mod address;
pub mod attestation;
pub mod block_set;
pub mod compartment;
pub mod cpu_registers;
pub mod cpu_start;
pub mod cpus;
pub mod descriptor;
pub mod devices;
pub mod dma;
pub mod errata;
pub mod extensions;
pub mod firmware_calls;
pub mod firmware_memory;
pub mod frames;
pub mod generic_key;
pub mod handover;
pub mod live_text;
pub mod log_ring;
pub mod outer_range;
pub mod pen;
pub mod pins;
pub mod placement;
pub mod private;
pub mod properties;
pub mod random;
pub mod redistributors;
pub mod refusals;
pub mod rendezvous;
pub mod requirements;
pub mod reserved;
pub mod rules;
pub mod scan;
pub mod secondary_cpu;
pub mod shadow;
pub mod tables;
pub mod vectors;
pub mod waits;
pub mod weaken;
