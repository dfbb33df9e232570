// SPDX-License-Identifier: MIT OR Apache-2.0
//! Proves the form of a program under flow attestation, and replays its log.
//!
//! The text of the linked program is the only input of the proof. `docs/flow-attestation.md` says
//! what form it has. Nothing here is shared with the rewriter.
#![forbid(unsafe_code)]

mod file;
mod graph;
pub mod instruction;
mod lines;
mod names;
mod program;
mod refusal;
mod registers;
mod replay;
mod rules;
mod scan;
mod segment;
mod template;
#[cfg(test)]
mod tests;
mod text;

pub use file::{inlined, read, read_section};
pub use names::{Function, Names};
pub use program::{Input, Numbers, Program};
pub use refusal::{Reason, Refusal};
pub use registers::Registers;
pub use replay::{
    End, Ending, Event, Failure, Fault, Limits, Segment, Segments, Totals, replay, replay_loaded,
};
pub use segment::tag;
