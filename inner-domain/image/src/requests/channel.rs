// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests about channels to other compartments.

use donjon_abi::call::{End, PeerReply, Reason, Transfer, Transferred};
use donjon_core::compartment::Moved;
use donjon_hal::steps::Executor;

use super::asked::Asked;

/// Sends bytes by an end of a channel.
pub fn send(asked: &mut Asked, it: Transfer) -> Transferred {
    let bytes = (it.address, it.size);
    let compartments = asked.compartments;
    transferred(compartments.send(&mut Executor, asked.at, it.end, bytes))
}

/// Receives bytes by an end of a channel.
pub fn receive(asked: &mut Asked, it: Transfer) -> Transferred {
    let bytes = (it.address, it.size);
    let compartments = asked.compartments;
    transferred(compartments.receive(&mut Executor, asked.at, it.end, bytes))
}

/// Tells who is at the other end of a channel.
pub fn peer(asked: &mut Asked, End { end }: End) -> PeerReply {
    let (found, measurement) = match asked.compartments.peer(asked.at, end) {
        Ok(Some(measurement)) => (1, measurement),
        Ok(None) => (0, [0; 32]),
        Err(_) => (u64::MAX, [0; 32]),
    };
    PeerReply { found, measurement }
}

fn transferred(moved: Result<Moved, Reason>) -> Transferred {
    let (bytes, is_open) = moved.map_or((u64::MAX, false), |it| (it.bytes, it.is_open));
    Transferred {
        bytes,
        is_open: u64::from(is_open),
    }
}
