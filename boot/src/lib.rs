// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the boot stage makes of a device tree: CPUs, memory, console, PSCI, and which devices Linux
//! may map.
//!
//! Nothing here touches hardware, so that the host can test it with the trees of boards that no
//! emulator has.
#![no_std]

pub mod board;
pub mod bridge;
pub mod device_tree;
pub mod devices;
pub mod failure;
pub mod nodes;
pub mod pins;
pub mod reserved;
pub mod usb;
