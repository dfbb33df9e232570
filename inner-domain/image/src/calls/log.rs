// SPDX-License-Identifier: MIT OR Apache-2.0
//! Log read-out.

use donjon_abi::call::Error;
use donjon_core::outer_range::Allegation;
use donjon_hal::physical;

use crate::outcome::{Arguments, Outcome};
use crate::{domain, journal, state};

/// Bytes of text in one call at most: bounds its duration and its stack.
const PIECE: usize = 1024;

/// Bytes of the next cursor, which precedes the text.
const CURSOR: usize = 8;

/// Copies the next cursor and log text into a buffer of the caller's.
pub fn log([cursor, address, length, ..]: &Arguments) -> Outcome {
    let machine = state::machine().ok_or(Error::Busy)?;
    // Held until the last byte is written: the frame must not become a table meanwhile.
    let domain = domain::lock()?;
    let buffer = machine
        .outer
        .check(Allegation::new(*address, *length))
        .and_then(|buffer| buffer.writable(domain.rules.frames()))
        .map_err(|_| Error::BadAddress)?;
    let room = usize::try_from(buffer.length())
        .ok()
        .and_then(|length| length.checked_sub(CURSOR))
        .ok_or(Error::InvalidArgument)?;

    let mut piece = [0u8; CURSOR + PIECE];
    let text = &mut piece[CURSOR..][..room.min(PIECE)];
    let reading = journal::read(*cursor, text).ok_or(Error::Busy)?;
    piece[..CURSOR].copy_from_slice(&reading.next.to_le_bytes());
    let filled = &piece[..CURSOR + reading.copied];
    Ok(physical::write_outer(&buffer, 0, filled))
}
