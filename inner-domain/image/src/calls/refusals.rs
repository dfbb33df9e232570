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
    let most = (room / size_of::<RefusalRecord>()).min(PIECE);
    for record in core::iter::from_fn(|| {
        let record = logger::refusal_after(next)?;
        next = record.sequence;
        Some(record)
    })
    .take(most)
    {
        filled += physical::write_outer(&buffer, filled, record.as_bytes());
    }
    physical::write_outer(&buffer, 0, ReplyHeader { next }.as_bytes());
    Ok(filled)
}
