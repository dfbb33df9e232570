// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a Rust program in a compartment is built on.
//!
//! ```ignore
//! #![no_std]
//! #![no_main]
//!
//! use donjon_runtime::{entry, println};
//!
//! fn call(arguments: [u64; 4]) -> u64 {
//!     println!("in a compartment");
//!     0
//! }
//!
//! entry!(call, limit: 64);
//! ```
//!
//! The function is one call: its stack begins anew each time, and statics keep what they have.
//! `cargo xtask compartment build` links it. docs/compartments.md says what a program can rely on.

#![no_std]

mod channel;
mod entry;
#[cfg(feature = "alloc")]
mod heap;
pub mod host;
mod memory;
#[cfg(target_os = "none")]
mod panic;
mod report;
mod request;
mod secret;
pub mod shared;

pub use channel::{Moved, peer, receive, send};
pub use entry::{Program, RETURN};
pub use host::{call_out, exit};
pub use memory::{HEAP, PAGE, grow, shrink};
pub use report::{Report, report, verify, verify_any_kind};
pub use secret::{key, random};
