// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffers of the caller's that calls write into. A [`ReplyHeader`] stands before what was asked
//! for.

use donjon_abi::call::{Error, ReplyHeader};
use donjon_core::memory::outer_range::{Allegation, WritableBuffer};

use crate::domain::Domain;
use crate::state;

/// The buffer, and its room behind the header. The protected state stays locked as long as there
/// is a buffer: its frame must not become a table meanwhile.
pub fn open(
    domain: &Domain,
    address: u64,
    length: u64,
) -> Result<(WritableBuffer<'_>, usize), Error> {
    let machine = state::machine().ok_or(Error::Busy)?;
    let buffer = machine
        .outer
        .check(
            Allegation::new(address, length),
            domain.pools.tables.frames(),
        )
        .and_then(|buffer| buffer.writable(domain.pools.tables.frames()))
        .map_err(|_| Error::BadAddress)?;
    let room = usize::try_from(buffer.length())
        .ok()
        .and_then(|length| length.checked_sub(size_of::<ReplyHeader>()))
        .ok_or(Error::InvalidArgument)?;
    Ok((buffer, room))
}
