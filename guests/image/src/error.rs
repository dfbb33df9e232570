// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be wrong with an image.

use std::fmt;

use crate::{PAGE, SHARED, SHARED_MAX};

/// Why no compartment can be made from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The file is no ELF file, or a damaged one.
    NotElf(String),
    /// The file is for another machine.
    WrongMachine,
    /// The file is a library, an object file or something else.
    NotExecutable,
    /// The program is position-independent.
    PositionIndependent,
    /// The program is linked dynamically.
    Dynamic,
    /// A segment at this address is writable and executable.
    WritableCode(u64),
    /// A segment at this address does not begin with a page.
    Unaligned(u64),
    /// A segment at this address is where no image may have one.
    OutOfRange(u64),
    /// A segment at this address has bytes that the file does not have.
    Truncated(u64),
    /// Two segments have a page at this address.
    Overlap(u64),
    /// The program has no code, or its entry is elsewhere.
    EntryOutside(u64),
    /// The file has no note, or more than one.
    NoNote,
    /// The note has another size.
    BadNote,
    /// The stack with this end is not in a writable segment, or not aligned.
    StackOutside(u64),
    /// The note wants to share more pages than [`SHARED_MAX`]: this number.
    TooManyShared(u64),
    /// The limit is below what the compartment begins with.
    LimitTooSmall {
        /// Frames that it may have.
        limit: u64,
        /// Frames that it needs.
        needed: u64,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotElf(why) => write!(f, "not an ELF file: {why}"),
            Self::WrongMachine => write!(f, "not for a little-endian arm64 of 64 bits"),
            Self::NotExecutable => write!(f, "not an executable"),
            Self::PositionIndependent => write!(
                f,
                "position-independent; link it statically at fixed addresses (no -pie)"
            ),
            Self::Dynamic => write!(f, "linked dynamically; link it statically"),
            Self::WritableCode(va) => {
                write!(
                    f,
                    "the segment at {va:#x} is writable and executable; use the linker script of \
                     compartments"
                )
            }
            Self::Unaligned(va) => write!(
                f,
                "the segment at {va:#x} does not begin with a page; use the linker script of \
                 compartments"
            ),
            Self::OutOfRange(va) => write!(
                f,
                "the segment at {va:#x} is not within {PAGE:#x} and {SHARED:#x}"
            ),
            Self::Truncated(va) => {
                write!(f, "the file ends before the segment at {va:#x} does")
            }
            Self::Overlap(va) => write!(f, "two segments have the page at {va:#x}"),
            Self::EntryOutside(va) => write!(f, "the entry, {va:#x}, is not in code"),
            Self::NoNote => write!(
                f,
                "it must have exactly one note .note.donjon: say entry! in Rust or DONJON_PROGRAM \
                 in C, once"
            ),
            Self::BadNote => write!(f, "its note .note.donjon is of another version"),
            Self::StackOutside(va) => write!(
                f,
                "the stack that ends at {va:#x} is not in a writable segment, or not aligned to 16"
            ),
            Self::TooManyShared(pages) => write!(
                f,
                "it shares {pages} pages with its host; {SHARED_MAX} are the most"
            ),
            Self::LimitTooSmall { limit, needed } => write!(
                f,
                "its limit is {limit} frames, and it begins with {needed}; raise the limit in its \
                 source"
            ),
        }
    }
}

impl std::error::Error for Error {}
