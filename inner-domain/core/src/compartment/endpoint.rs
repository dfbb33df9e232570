// SPDX-License-Identifier: MIT OR Apache-2.0
//! An end of a channel.

use super::handle::Handle;
use crate::translation::FrameAddress;

/// Ends that a compartment may have.
pub const ENDS: usize = 4;

/// One end of a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    /// The compartment at the other end, and the number of that end.
    pub peer: Handle,
    pub peer_end: u8,
    /// The frame where bytes wait, a ring; none where there is no channel.
    pub inbox: FrameAddress,
    /// The first byte that waits, and how many do.
    pub first: u16,
    pub waiting: u16,
}

impl End {
    /// An end of no channel.
    pub const NONE: Self = Self {
        peer: Handle::from_word(0),
        peer_end: 0,
        inbox: FrameAddress::NONE,
        first: 0,
        waiting: 0,
    };
}
