// SPDX-License-Identifier: MIT OR Apache-2.0
//! Channels to other compartments.

use donjon_abi::call::{End, Transfer, Transferred, requests};

use crate::request::ask;

/// What became of bytes that were to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// How many did.
    pub bytes: usize,
    /// Whether the other compartment is there.
    pub is_open: bool,
}

impl Moved {
    fn from_reply(it: Transferred) -> Option<Self> {
        (it.bytes != u64::MAX).then_some(Self {
            bytes: it.bytes as usize,
            is_open: it.is_open == 1,
        })
    }
}

/// Sends bytes by an end of a channel, as many as there is room for and at most 1024. None without
/// such an end.
pub fn send(end: u64, from: &[u8]) -> Option<Moved> {
    let transfer = Transfer {
        end,
        address: from.as_ptr() as u64,
        size: from.len() as u64,
    };
    // SAFETY: the inner domain reads these bytes.
    Moved::from_reply(unsafe { ask::<requests::Send>(&transfer) })
}

/// Receives what is there, at most 1024 bytes. None without such an end.
pub fn receive(end: u64, to: &mut [u8]) -> Option<Moved> {
    let transfer = Transfer {
        end,
        address: to.as_mut_ptr() as u64,
        size: to.len() as u64,
    };
    // SAFETY: the inner domain writes to these bytes alone, which are borrowed mutably.
    Moved::from_reply(unsafe { ask::<requests::Receive>(&transfer) })
}

/// The measurement of the compartment at the other end. None if it is not there any more, or there
/// is no such end.
pub fn peer(end: u64) -> Option<[u8; 32]> {
    // SAFETY: the request touches no memory.
    let it = unsafe { ask::<requests::Peer>(&End { end }) };
    (it.found == 1).then_some(it.measurement)
}
