// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hardware as boot stage and inner domain see it: console, firmware, registers.
//!
//! Nothing here decides anything. What decides is `donjon-core`, which the host can run.
#![no_std]

pub mod console;
#[cfg(target_arch = "aarch64")]
pub mod cpu;
#[cfg(target_arch = "aarch64")]
mod cpu_id;
#[cfg(target_arch = "aarch64")]
pub mod firmware;
pub mod heap;
pub mod mailbox;
#[cfg(target_arch = "aarch64")]
pub mod physical;
#[cfg(target_arch = "aarch64")]
pub mod registers;
#[cfg(target_arch = "aarch64")]
pub mod steps;
#[cfg(all(target_arch = "aarch64", feature = "trace-steps"))]
pub mod trace;
pub mod watchdog;
