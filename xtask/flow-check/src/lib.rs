// SPDX-License-Identifier: MIT OR Apache-2.0
//! Proves the form of a program under flow attestation, and replays its log.
//!
//! The text of the linked program is the only input of the proof. `docs/flow-attestation.md` says
//! what form it has. Nothing here is shared with the rewriter.
#![forbid(unsafe_code)]

pub mod instruction;
pub mod registers;
