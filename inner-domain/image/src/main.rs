// SPDX-License-Identifier: MIT OR Apache-2.0
//! The inner domain.
//!
//! The boot stage loads it, calls [`init::donjon_inner_init`] once and starts Linux. From then
//! on it runs when Linux calls the gate (`gate.S`), which calls a function of
//! [`dispatch::donjon_call_table`] on this CPU's stack with all exceptions masked, or when a
//! vector finds another `TCR_EL1`, which ends in [`epitaph`].
#![cfg_attr(target_os = "none", no_std)]
#![cfg_attr(target_os = "none", no_main)]
#![cfg_attr(not(target_os = "none"), allow(unused))]

#[cfg(target_os = "none")]
mod arrival;
#[cfg(target_os = "none")]
mod calls;
#[cfg(target_os = "none")]
mod cpu_block;
#[cfg(target_os = "none")]
mod dispatch;
#[cfg(target_os = "none")]
mod domain;
#[cfg(target_os = "none")]
mod epitaph;
#[cfg(target_os = "none")]
mod gate;
#[cfg(target_os = "none")]
mod heap;
#[cfg(target_os = "none")]
mod init;
#[cfg(target_os = "none")]
mod journal;
#[cfg(target_os = "none")]
mod outcome;
#[cfg(target_os = "none")]
mod service;
#[cfg(target_os = "none")]
mod state;

#[cfg(not(target_os = "none"))]
fn main() {
    eprintln!(
        "the inner domain is built for aarch64-unknown-none-softfloat; use `cargo xtask run`"
    );
}
