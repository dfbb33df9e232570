// SPDX-License-Identifier: MIT OR Apache-2.0
//! Channels to other compartments.

use core::arch::asm;

use donjon_abi::call::Supervisor;

use crate::report::bytes;

/// What became of bytes that were to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// How many did.
    pub bytes: usize,
    /// Whether the other compartment is there.
    pub is_open: bool,
}

impl Moved {
    const fn from_words(count: u64, is_open: u64) -> Option<Self> {
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
    let (count, is_open);
    // SAFETY: the inner domain reads these bytes; no other register changes.
    unsafe {
        asm!(
            "svc {number}",
            number = const Supervisor::Send as u64,
            inlateout("x0") end => count,
            inlateout("x1") from.as_ptr() => is_open,
            in("x2") from.len(),
            options(nostack, preserves_flags),
        );
    }
    Moved::from_words(count, is_open)
}

/// Receives what is there, at most 1024 bytes. None without such an end.
pub fn receive(end: u64, to: &mut [u8]) -> Option<Moved> {
    let (count, is_open);
    // SAFETY: the inner domain writes to these bytes alone; no other register changes.
    unsafe {
        asm!(
            "svc {number}",
            number = const Supervisor::Receive as u64,
            inlateout("x0") end => count,
            inlateout("x1") to.as_mut_ptr() => is_open,
            in("x2") to.len(),
            options(nostack, preserves_flags),
        );
    }
    Moved::from_words(count, is_open)
}

/// The measurement of the compartment at the other end. None if it is not there any more, or there
/// is no such end.
pub fn peer(end: u64) -> Option<[u8; 32]> {
    let (found, words): (u64, [u64; 4]);
    let (a, b, c, d);
    // SAFETY: no memory is touched, and no other register changes.
    unsafe {
        asm!(
            "svc {number}",
            number = const Supervisor::Peer as u64,
            inlateout("x0") end => found,
            lateout("x1") a, lateout("x2") b, lateout("x3") c, lateout("x4") d,
            options(nostack, preserves_flags),
        );
    }
    words = [a, b, c, d];
    (found == 1).then(|| bytes(words))
}
