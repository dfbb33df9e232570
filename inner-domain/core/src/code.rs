// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code that EL1 executes: which instructions it may have, and how it changes while CPUs run it.

pub mod live_text;
pub mod scan;
pub mod vectors;
