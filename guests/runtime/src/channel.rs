// SPDX-License-Identifier: MIT OR Apache-2.0
//! Channels to other compartments.

use donjon_abi::call::Supervisor;

use crate::request::{digest, pair};

/// What became of bytes that were to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// How many did.
    pub bytes: usize,
    /// Whether the other compartment is there.
    pub is_open: bool,
}

impl Moved {
    const fn from_words((count, is_open): (u64, u64)) -> Option<Self> {
        if count == u64::MAX {
            return None;
        }
        Some(Self {
            bytes: count as usize,
            is_open: is_open == 1,
        })
    }
}

/// Sends bytes by an end of a channel, as many as there is room for and at most 1024. None without
/// such an end.
pub fn send(end: u64, from: &[u8]) -> Option<Moved> {
    let (start, size) = (from.as_ptr() as u64, from.len() as u64);
    // SAFETY: the inner domain reads these bytes.
    let moved = unsafe { pair::<{ Supervisor::Send as u64 }>(end, start, size) };
    Moved::from_words(moved)
}

/// Receives what is there, at most 1024 bytes. None without such an end.
pub fn receive(end: u64, to: &mut [u8]) -> Option<Moved> {
    let (start, size) = (to.as_mut_ptr() as u64, to.len() as u64);
    // SAFETY: the inner domain writes to these bytes alone, which are borrowed mutably.
    let moved = unsafe { pair::<{ Supervisor::Receive as u64 }>(end, start, size) };
    Moved::from_words(moved)
}

/// The measurement of the compartment at the other end. None if it is not there any more, or there
/// is no such end.
pub fn peer(end: u64) -> Option<[u8; 32]> {
    // SAFETY: it is a request of this kind.
    unsafe { digest::<{ Supervisor::Peer as u64 }>(end) }
}
