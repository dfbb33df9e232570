// SPDX-License-Identifier: MIT OR Apache-2.0
//! Log read-out.

use donjon_abi::call::{Error, ReplyHeader};
use donjon_hal::physical;
use zerocopy::IntoBytes;

use super::reply;
use crate::outcome::{Arguments, Outcome};
use crate::{domain, logger};

/// Bytes of text in one call at most: bounds its duration and its stack.
const PIECE: usize = 1024;

/// Copies the next cursor and log text into a buffer of the caller's.
pub fn log([cursor, address, length, ..]: &Arguments) -> Outcome {
    let domain = domain::lock()?;
    let (buffer, room) = reply::open(&domain, *address, *length)?;

    let mut piece = [0u8; PIECE];
    let text = &mut piece[..room.min(PIECE)];
    let reading = logger::read(*cursor, text).ok_or(Error::Busy)?;
    let header = ReplyHeader { next: reading.next };
    let filled = physical::write_outer(&buffer, 0, header.as_bytes());
    let text = &text[..reading.copied];
    Ok(filled + physical::write_outer(&buffer, filled, text))
}
