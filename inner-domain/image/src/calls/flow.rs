// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flow attestation of compartments, as Linux asks for it.

use donjon_abi::call::{Error, Reason};
use donjon_abi::flow::{DIGEST, MESSAGE, RECORD};
use donjon_core::compartment::Handle;
use donjon_core::memory::outer_range::{Allegation, WritableBuffer};
use donjon_hal::physical;
use donjon_hal::steps::Executor;

use crate::domain::{self, Domain};
use crate::outcome::{Arguments, Outcome, Refusal};
use crate::{attestation, compartments, stack, state};

/// Puts a compartment under flow attestation.
pub fn begin([handle, nonce, a, b, c, d]: &Arguments) -> Outcome {
    let (compartments, handle) = (compartments::get()?, Handle::from_word(*handle));
    let domain = domain::lock_after_handover()?;
    let nonce = read(&buffer(&domain, *nonce, 32)?, 0);
    let about = (nonce, [*a, *b, *c, *d]);
    let begun = stack::wiped(|| {
        let first = attestation::random_words().ok_or(Reason::NoSecret)?;
        compartments.attest(&mut Executor, handle, about, first)
    });
    begun.map(|()| 0).map_err(Refusal::rule)
}

/// Adds a page of Linux's to a log.
pub fn extend_log([handle, frame, ..]: &Arguments) -> Outcome {
    let compartments = compartments::get()?;
    let mut domain = domain::lock_after_handover()?;
    let handle = Handle::from_word(*handle);
    compartments
        .extend_log(&mut Executor, domain.pools.private(), handle, *frame)
        .map_err(Refusal::rule)
}

/// Binds the digest of a segment and shows its states.
pub fn commit([handle, address, ..]: &Arguments) -> Outcome {
    let (compartments, handle) = (compartments::get()?, Handle::from_word(*handle));
    let domain = domain::lock_after_handover()?;
    let buffer = buffer(&domain, *address, MESSAGE)?;
    // Read once: what is bound is what is given back.
    let digest = read(&buffer, DIGEST as u64);
    let message = compartments.commit(&mut Executor, handle, digest);
    reply(&buffer, message)
}

/// Ends a transcript.
pub fn end([handle, address, ..]: &Arguments) -> Outcome {
    let (compartments, handle) = (compartments::get()?, Handle::from_word(*handle));
    let domain = domain::lock_after_handover()?;
    let buffer = buffer(&domain, *address, MESSAGE)?;
    let message = compartments.end_transcript(&mut Executor, handle);
    reply(&buffer, message)
}

/// Makes the report about a transcript.
pub fn report([handle, address, ..]: &Arguments) -> Outcome {
    let (compartments, handle) = (compartments::get()?, Handle::from_word(*handle));
    // Before the protected state is locked, which others would wait for.
    let record = compartments
        .flow_subject(&mut Executor, handle)
        .and_then(|subject| {
            stack::wiped(|| {
                let secrets = attestation::secrets();
                let secrets = secrets.as_ref().ok_or(Reason::NoSecret)?;
                Ok(secrets.record(&subject))
            })
        });
    let domain = domain::lock_after_handover()?;
    reply(&buffer(&domain, *address, RECORD)?, record)
}

/// The caller's buffer, as long as the protected state is locked.
fn buffer<'a>(domain: &'a Domain, address: u64, bytes: usize) -> Result<WritableBuffer<'a>, Error> {
    if !address.is_multiple_of(8) {
        return Err(Error::BadAddress);
    }
    let machine = state::machine().ok_or(Error::Busy)?;
    machine
        .outer
        .check(
            Allegation::new(address, bytes as u64),
            domain.pools.tables.frames(),
        )
        .and_then(|buffer| buffer.writable(domain.pools.tables.frames()))
        .map_err(|_| Error::BadAddress)
}

/// Reads 32 bytes of a buffer from an offset on, each word once.
fn read(buffer: &WritableBuffer<'_>, offset: u64) -> [u8; 32] {
    let mut bytes = [0; 32];
    if let Some(physical) = buffer.part(offset, 32) {
        let mut words = [0_u64; 4];
        // SAFETY: RAM by the check of the buffer, at a multiple of 8.
        unsafe { physical::read_outer(physical, &mut words) };
        for (place, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *place = word.to_ne_bytes();
        }
    }
    bytes
}

fn reply<const N: usize>(buffer: &WritableBuffer<'_>, bytes: Result<[u8; N], Reason>) -> Outcome {
    let bytes = bytes.map_err(Refusal::rule)?;
    physical::write_outer(buffer, 0, &bytes);
    Ok(0)
}
