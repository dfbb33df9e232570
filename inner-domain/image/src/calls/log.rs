// SPDX-License-Identifier: MIT OR Apache-2.0
//! Log read-out.

use donjon_abi::call::Error;
use donjon_hal::physical;

use super::reply::{self, CURSOR};
use crate::outcome::{Arguments, Outcome};
use crate::{domain, journal};

/// Bytes of text in one call at most: bounds its duration and its stack.
const PIECE: usize = 1024;

/// Copies the next cursor and log text into a buffer of the caller's.
pub fn log([cursor, address, length, ..]: &Arguments) -> Outcome {
    let domain = domain::lock()?;
    let (buffer, room) = reply::open(&domain, *address, *length)?;

    let mut piece = [0u8; CURSOR + PIECE];
    let text = &mut piece[CURSOR..][..room.min(PIECE)];
    let reading = journal::read(*cursor, text).ok_or(Error::Busy)?;
    piece[..CURSOR].copy_from_slice(&reading.next.to_le_bytes());
    let filled = &piece[..CURSOR + reading.copied];
    Ok(physical::write_outer(&buffer, 0, filled))
}
