// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code that the guest programs share.

#[cfg(target_arch = "aarch64")]
pub mod memory;
#[cfg(target_arch = "aarch64")]
pub mod meter;
#[cfg(target_arch = "aarch64")]
pub mod perf;
#[cfg(target_arch = "aarch64")]
pub mod stats;
