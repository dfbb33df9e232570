// SPDX-License-Identifier: MIT OR Apache-2.0
//! The records of refused calls.

use donjon_abi::call::RefusalRecord;
use donjon_hal::physical;

use super::reply::{self, CURSOR};
use crate::outcome::{Arguments, Outcome};
use crate::{domain, journal};

/// Most records of one call: bounds its duration.
const PIECE: usize = 32;

/// Copies the next cursor and records into a buffer of the caller's.
pub fn refusals([cursor, address, length, ..]: &Arguments) -> Outcome {
    let domain = domain::lock()?;
    let (buffer, room) = reply::open(&domain, *address, *length)?;

    let mut next = *cursor;
    let mut filled = CURSOR as u64;
    let most = (room / size_of::<RefusalRecord>()).min(PIECE);
    for record in core::iter::from_fn(|| {
        let record = journal::refusal_after(next)?;
        next = record.sequence;
        Some(record)
    })
    .take(most)
    {
        let words = [
            record.sequence,
            record.function,
            record.error as u64,
            record.value,
            record.caller,
            record.a1,
            record.a2,
        ];
        for word in words {
            filled += physical::write_outer(&buffer, filled, &word.to_le_bytes());
        }
    }
    physical::write_outer(&buffer, 0, &next.to_le_bytes());
    Ok(filled)
}
