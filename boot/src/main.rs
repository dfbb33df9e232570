// SPDX-License-Identifier: MIT OR Apache-2.0
//! The boot stage: from the loader to Linux over a running inner domain.
//!
//! `start.S` leaves EL2 if it is there and turns the MMU on; [`entry::boot_main`] does the rest and
//! returns what `start.S` needs to enter Linux. Nothing of it survives but the page in `stay.S`.
#![cfg_attr(target_os = "none", no_std)]
#![cfg_attr(target_os = "none", no_main)]
#![cfg_attr(not(target_os = "none"), allow(unused))]

#[cfg(target_os = "none")]
mod assembly;
#[cfg(target_os = "none")]
mod device_tree;
#[cfg(target_os = "none")]
mod devices;
#[cfg(target_os = "none")]
mod entry;
#[cfg(target_os = "none")]
mod failure;
#[cfg(target_os = "none")]
mod heap;
#[cfg(target_os = "none")]
mod identity;
#[cfg(target_os = "none")]
mod image;
#[cfg(target_os = "none")]
mod inner;
#[cfg(target_os = "none")]
mod measure;
#[cfg(target_os = "none")]
mod region;
#[cfg(target_os = "none")]
mod report;
#[cfg(target_os = "none")]
mod sequence;

#[cfg(not(target_os = "none"))]
fn main() {
    eprintln!("the boot stage is built for aarch64-unknown-none-softfloat; use `cargo xtask run`");
}
