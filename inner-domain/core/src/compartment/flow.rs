// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flow attestation: the inner domain draws the chain's state of a program, hides it while the
//! program runs, and shows it once the host has committed to the words that the program wrote.
//!
//! The state is in registers of the program, so it is hidden as all of them are. The log is memory
//! of Linux's that needs no protection. `docs/flow-attestation.md` says why this is enough.
//!
//! A run under flow attestation has one call. Its life:
//!
//! 1. *ready*: pages are added to its log;
//! 2. *running* on one CPU, *suspended* when the CPU left it. A segment is *closed* where the log
//!    is full; the program goes on when the host has committed to the segment;
//! 3. *over*: it has ended, or its host has cut it. When the last segment was committed to, the
//!    transcript ends, and there is a report.

mod begin;
mod commit;
mod run;

use core::mem::size_of;

use donjon_abi::layout::PAGE_SIZE;

pub use run::{Begin, Cause, Stop, Stopped};

/// Where in the frame of a compartment's registers its [`Flow`] is, in bytes.
pub const OFFSET: u64 = 3072;

const _: () = assert!(OFFSET + size_of::<Flow>() as u64 <= PAGE_SIZE);

/// What is kept about a run, in the frame of the compartment's registers, which is zero at first.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Flow {
    nonce: [u8; 32],
    arguments: [u64; 4],
    /// Pages of the log.
    pages: u64,
    /// Segments that were committed to.
    segments: u64,
    /// State with which the open segment began.
    first: [u64; 4],
    /// 1 while a closed segment waits for its commit.
    is_closed: u64,
    /// The closed segment.
    closed: Closed,
    /// How the run ended, 0 until then; `ESR_EL1`, and what the program passed.
    reason: u64,
    esr: u64,
    word: u64,
    data: [u8; 32],
    /// 1 when the transcript has ended, whose SHA-256 is `digest`.
    is_ended: u64,
    digest: [u8; 32],
}

/// A closed segment: the states before and behind it, and words, path bits and PC at its end.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Closed {
    first: [u64; 4],
    last: [u64; 4],
    words: u64,
    path: u64,
    pc: u64,
}
