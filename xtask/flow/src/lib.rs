// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instruments programs for flow attestation, builds them and counts what it costs.
//!
//! The rewriter turns a compiler's assembly into assembly with the templates of
//! `docs/flow-attestation.md`. A checker that shares no code with it looks at the linked program.

mod assembly;
mod block;
pub mod build;
pub mod command;
mod compare;
pub mod cost;
mod counted;
mod cycle;
mod decided;
mod emit;
mod exclusive;
pub mod execute;
mod fold;
mod link;
mod loops;
mod number;
mod often;
mod plan;
mod proof;
mod reach;
mod region;
mod rewrite;
mod template;
mod unit;

pub use rewrite::{Source, rewrite};
