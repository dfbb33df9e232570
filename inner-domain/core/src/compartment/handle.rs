// SPDX-License-Identifier: MIT OR Apache-2.0
//! The handles by which Linux names compartments.

/// A handle: the index of a slot, and above it a number that the slot had with no other
/// compartment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(u64);

impl Handle {
    /// Wraps a handle from Linux without validating it.
    pub const fn from_word(word: u64) -> Self {
        Self(word)
    }

    /// The word by which Linux names the handle.
    pub const fn word(self) -> u64 {
        self.0
    }

    pub(super) const fn new(index: u32, generation: u32) -> Self {
        Self(index as u64 | (generation as u64) << 32)
    }

    pub(super) const fn index(self) -> u32 {
        self.0 as u32
    }

    pub(super) const fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }
}
