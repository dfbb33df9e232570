// SPDX-License-Identifier: MIT OR Apache-2.0
//! The inner domain.
//!
//! The boot stage loads it, calls [`init::donjon_inner_init`] once and starts Linux. From then
//! on it runs when Linux calls the gate (`gate.S`), which calls a function of
//! [`dispatch::donjon_call_table`] on this CPU's stack with all exceptions masked, or when a
//! vector finds another `TCR_EL1`, which ends in [`panic_report`].
#![no_std]
#![no_main]

mod attestation;
mod calls;
mod checks;
mod compartments;
mod context;
mod dispatch;
mod domain;
mod gate;
mod heap;
mod init;
mod logger;
mod masked;
mod outcome;
mod panic_report;
mod parked;
mod per_cpu;
mod requests;
mod secondary_entry;
mod service;
mod stack;
mod state;
mod usb;
mod user_tables;
