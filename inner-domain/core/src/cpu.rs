// SPDX-License-Identifier: MIT OR Apache-2.0
//! CPUs: what each must have, the registers that it runs with, and how it starts, stops and waits.

pub mod cpus;
pub mod errata;
pub mod extensions;
pub mod firmware_calls;
pub mod generic_key;
pub mod parked;
pub mod redistributors;
pub mod registers;
pub mod rendezvous;
pub mod requirements;
pub mod secondary;
pub mod start;
