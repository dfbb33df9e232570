// SPDX-License-Identifier: MIT OR Apache-2.0
//! A message.

/// Bytes of a message.
pub const MESSAGE: usize = 1024;

/// A message, which begins with its number.
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
pub struct Message(pub [u8; MESSAGE]);

impl Message {
    /// A message with the number 0.
    pub const EMPTY: Self = Self([0; MESSAGE]);

    /// Number of the message, which is also its last word. None if the two differ.
    pub fn number(&self) -> Option<u64> {
        let first = u64::from_le_bytes(*self.0.first_chunk()?);
        let last = u64::from_le_bytes(*self.0.last_chunk()?);
        (first == last).then_some(first)
    }

    /// Gives the message a number.
    pub fn set(&mut self, number: u64) {
        let bytes = number.to_le_bytes();
        self.0[..8].copy_from_slice(&bytes);
        self.0[MESSAGE - 8..].copy_from_slice(&bytes);
    }
}
