// SPDX-License-Identifier: MIT OR Apache-2.0
//! The records of refused calls.

use donjon_abi::call::{Error, RefusalRecord};
use donjon_core::outer_range::Allegation;
use donjon_hal::physical;

use crate::outcome::{Arguments, Outcome};
use crate::{journal, state};

/// Bytes of the next cursor, which precedes the records.
const CURSOR: usize = 8;

/// Most records of one call: bounds its duration.
const PIECE: usize = 32;

/// Copies the next cursor and records into a buffer of the caller's.
pub fn refusals([cursor, address, length, ..]: &Arguments) -> Outcome {
    let machine = state::machine().ok_or(Error::Busy)?;
    let buffer = machine
        .outer
        .check(Allegation::new(*address, *length))
        .map_err(|_| Error::BadAddress)?;
    let room = usize::try_from(buffer.length())
        .ok()
        .and_then(|length| length.checked_sub(CURSOR))
        .ok_or(Error::InvalidArgument)?;

    let mut next = *cursor;
    let mut at = buffer.address() + CURSOR as u64;
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
            // SAFETY: the buffer was checked to be the outer domain's RAM, and `most` records
            // fit into it behind the cursor.
            unsafe { physical::write_outer(at, &word.to_le_bytes()) };
            at += 8;
        }
    }
    // SAFETY: as above, the first 8 bytes.
    unsafe { physical::write_outer(buffer.address(), &next.to_le_bytes()) };
    Ok(at - buffer.address())
}
