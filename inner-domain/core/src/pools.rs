// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pools: blocks of memory that become tables, text or private memory, and go back.
//!
//! They stand above both kinds of tables: no mapping of a block may be left in the kernel's tables
//! ([`crate::kernel_tables`]) or in those of users ([`crate::user_tables`]) when it changes its
//! class.

mod claims;
mod extension;
mod phase;
mod removal;
mod search;
mod state;

pub use phase::Progress;
pub use state::{Pools, Storage};
