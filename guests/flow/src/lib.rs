// SPDX-License-Identifier: MIT OR Apache-2.0
//! The words of a flow log and the chain that absorbs them.
//!
//! An instrumented program writes one word for each path, loop count and indirect target into its
//! log, and absorbs the word into a state in reserved registers. `docs/flow-attestation.md` says
//! why that is enough.
#![no_std]
#![forbid(unsafe_code)]

mod chain;
mod word;

pub use chain::{STEPS, State};
pub use word::{ADDRESS_END, BITS_START, COUNT_START, Kind, MAX_BITS};
