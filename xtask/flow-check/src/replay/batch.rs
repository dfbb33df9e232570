// SPDX-License-Identifier: MIT OR Apache-2.0
//! Path bits that a walk uses one region after the other.

/// Path bits, as they will be when they are written.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// The word, or x28 at the end of the log.
    pub word: u64,
    /// Bits below its sentinel.
    pub all: u32,
    /// Bits that the walk has used.
    pub used: u32,
    /// Whether it is x28 at the end of the log.
    pub last: bool,
}

impl Batch {
    /// Returns the bits of a word, none of them used.
    pub fn new(word: u64, last: bool) -> Self {
        Self {
            word,
            all: word.checked_ilog2().unwrap_or(0),
            used: 0,
            last,
        }
    }

    /// Returns x28 as it is before the next bits.
    pub fn path(&self) -> u64 {
        self.word >> (self.all - self.used)
    }
}
