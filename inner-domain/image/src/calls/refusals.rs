// SPDX-License-Identifier: MIT OR Apache-2.0
//! The records of refused calls.

use donjon_abi::call::{RefusalRecord, ReplyHeader};
use donjon_hal::physical;
use zerocopy::IntoBytes;

use super::reply;
use crate::outcome::{Arguments, Outcome};
use crate::{domain, logger};

/// Most records of one call: bounds its duration.
const PIECE: usize = 32;

/// Copies the next cursor and records into a buffer of the caller's.
pub fn refusals([cursor, address, length, ..]: &Arguments) -> Outcome {
    let domain = domain::lock()?;
    let (buffer, room) = reply::open(&domain, *address, *length)?;

    let mut next = *cursor;
    let mut filled = size_of::<ReplyHeader>() as u64;
    let mut left = (room / size_of::<RefusalRecord>()).min(PIECE);
    logger::refusals_after(next, |record| {
        if left == 0 {
            return false;
        }
        left -= 1;
        next = record.sequence;
        filled += physical::write_outer(&buffer, filled, record.as_bytes());
        true
    });
    physical::write_outer(&buffer, 0, ReplyHeader { next }.as_bytes());
    Ok(filled)
}
