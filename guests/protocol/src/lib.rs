// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a program in a compartment and the one that runs it agree on. The inner domain knows
//! nothing of it. docs/compartments.md describes it.

#![no_std]

/// Where the pages begin that a compartment shares with its host.
pub const SHARED: u64 = 1 << 37;
/// Most pages that a compartment shares with its host.
pub const SHARED_MAX: u64 = 512;

/// The answer to a request that failed.
pub const FAILED: u64 = u64::MAX;

/// The upper half of a last word that a panic leaves; the lower half is the line of the source.
pub const PANIC: u64 = 0x5041_4e49 << 32;

/// What a compartment asks its host for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Writes this many bytes to the standard output, from the beginning of the shared pages. The
    /// answer is how many were written.
    Output(u64),
    /// Writes this many bytes to the standard error, from the beginning of the shared pages. The
    /// answer is how many were written.
    Error(u64),
    /// Reads at most this many bytes from the standard input to the beginning of the shared pages.
    /// The answer is how many were read, 0 at the end.
    Input(u64),
}

/// Bits of a word that say what is asked for; above them is a number of bytes.
const KIND_BITS: u32 = 8;
const OUTPUT: u64 = 1;
const ERROR: u64 = 2;
const INPUT: u64 = 3;

impl Request {
    /// The word with which a compartment asks its host.
    pub const fn word(self) -> u64 {
        let (kind, bytes) = match self {
            Self::Output(bytes) => (OUTPUT, bytes),
            Self::Error(bytes) => (ERROR, bytes),
            Self::Input(bytes) => (INPUT, bytes),
        };
        bytes << KIND_BITS | kind
    }

    /// The request that the word of a call to the host stands for.
    pub const fn from_word(word: u64) -> Option<Self> {
        let bytes = word >> KIND_BITS;
        Some(match word & ((1 << KIND_BITS) - 1) {
            OUTPUT => Self::Output(bytes),
            ERROR => Self::Error(bytes),
            INPUT => Self::Input(bytes),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_survives_its_word() {
        for it in [
            Request::Output(0),
            Request::Error(4096),
            Request::Input(1 << 21),
        ] {
            assert_eq!(Request::from_word(it.word()), Some(it));
        }
        assert_eq!(Request::from_word(0), None);
        assert_eq!(Request::from_word(0x1004), None);
    }
}
