// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs of a small program, kept as a host keeps them: right ones, and what a hostile host makes of
//! them.

mod accepted;
mod assembler;
mod beside;
mod command;
mod elf;
mod ends;
mod forged;
mod kept;
mod limits;
mod policies;
mod run;

pub use assembler::program;
pub use kept::{Kept, NONCE};
pub use run::{Round, run};

/// Keeps a run that ends by itself: 100 rounds, in segments of 7 words.
pub fn finished() -> Kept {
    Kept::new(&run(&program(), 100, Round::Leave, 7))
}
