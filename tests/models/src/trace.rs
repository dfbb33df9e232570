// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks a recorded trace of steps: stores to tables, barriers, invalidations, loads of roots.
//!
//! * [`event`]: what a trace consists of.
//! * [`descriptor`]: the little that has to be known of an entry.
//! * [`order`]: barriers around invalidations.
//! * [`asids`]: which tree has which ASID.
//! * [`stale`]: what a TLB may hold that the tables no longer say.
//! * [`oracle`] and [`links`]: the tables, and what each step may do to them.
//! * [`users`]: what tables of users may show.
//! * [`report`]: what was found.
//!
//! The model of [`crate::space`] walks whatever can be walked after each step. That is right, and
//! too slow for a million steps of a real machine. Here the tables themselves stand for all that
//! can be walked, and only what was taken out of them is kept, until an invalidation of it is
//! complete. Nothing here shares code with the rules, nor asks them.

pub mod asids;
pub mod descriptor;
pub mod event;
pub mod links;
pub mod oracle;
pub mod order;
pub mod report;
pub mod stale;
pub mod users;

pub use event::{Action, Event};
pub use oracle::{Memory, Oracle};
pub use report::{Counters, Rule, Violation};

/// Number of an event in its trace.
pub type Position = usize;
