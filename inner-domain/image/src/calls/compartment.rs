// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compartments, as Linux asks for them.

use donjon_abi::call::{CompartmentFact, Error, Reason};
use donjon_core::compartment::{Access, Handle};
use donjon_hal::steps::Executor;

use crate::outcome::{Arguments, Outcome, Refusal};
use crate::{compartments, domain, stack};

/// Makes a compartment.
pub fn create([limit, ..]: &Arguments) -> Outcome {
    let compartments = compartments::get()?;
    let mut domain = domain::lock_after_handover()?;
    let (_, private) = domain.pools.private();
    let handle = compartments
        .create(private, *limit)
        .map_err(Refusal::rule)?;
    Ok(handle.word())
}

/// Adds a page, a piece in each call.
pub fn add([handle, va, access, from, ..]: &Arguments) -> Outcome {
    let compartments = compartments::get()?;
    let access = Access::from_word(*access).ok_or(Error::InvalidArgument)?;
    let mut domain = domain::lock_after_handover()?;
    let (handle, page) = (Handle::from_word(*handle), (*va, access, *from));
    let private = domain.pools.private();
    let added = stack::wiped(|| compartments.add(&mut Executor, private, handle, page));
    added.map(|all| u64::from(!all)).map_err(Refusal::rule)
}

/// Maps a page of Linux's.
pub fn share([handle, va, frame, ..]: &Arguments) -> Outcome {
    let compartments = compartments::get()?;
    let mut domain = domain::lock_after_handover()?;
    let (handle, page) = (Handle::from_word(*handle), (*va, *frame));
    let shared = compartments.share(&mut Executor, domain.pools.private(), handle, page);
    shared.map(|()| 0).map_err(Refusal::rule)
}

/// Ends the building.
pub fn seal([handle, entry, stack, ..]: &Arguments) -> Outcome {
    let (compartments, handle) = (compartments::get()?, Handle::from_word(*handle));
    let sealed = stack::wiped(|| compartments.seal(handle, *entry, *stack));
    sealed.map(|()| 0).map_err(Refusal::rule)
}

/// Wipes a compartment, a part in each call.
pub fn destroy([handle, ..]: &Arguments) -> Outcome {
    let compartments = compartments::get()?;
    let mut domain = domain::lock_after_handover()?;
    let (_, private) = domain.pools.private();
    let destroyed = compartments.destroy(&mut Executor, private, Handle::from_word(*handle));
    destroyed.map(|all| u64::from(!all)).map_err(Refusal::rule)
}

/// Makes a clone of a compartment.
pub fn clone([template, ..]: &Arguments) -> Outcome {
    let compartments = compartments::get()?;
    let mut domain = domain::lock_after_handover()?;
    let (_, private) = domain.pools.private();
    let clone = compartments.clone_of(private, Handle::from_word(*template));
    clone.map(Handle::word).map_err(Refusal::rule)
}

/// Copies a part of the other one.
pub fn copy([handle, ..]: &Arguments) -> Outcome {
    let compartments = compartments::get()?;
    let mut domain = domain::lock_after_handover()?;
    let (_, private) = domain.pools.private();
    let copied = compartments.copy(&mut Executor, private, Handle::from_word(*handle));
    copied.map(|all| u64::from(!all)).map_err(Refusal::rule)
}

/// Joins two by a channel.
pub fn connect([one, other, ..]: &Arguments) -> Outcome {
    let compartments = compartments::get()?;
    let mut domain = domain::lock_after_handover()?;
    let (_, private) = domain.pools.private();
    let (one, other) = (Handle::from_word(*one), Handle::from_word(*other));
    let ends = compartments.connect(private, one, other);
    ends.map(|(first, second)| first as u64 | (second as u64) << 32)
        .map_err(Refusal::rule)
}

/// Reads one fact about a compartment.
pub fn information([handle, which, ..]: &Arguments) -> Outcome {
    let compartments = compartments::get()?;
    let handle = Handle::from_word(*handle);
    let which = CompartmentFact::from_number(*which).ok_or(Error::InvalidArgument)?;
    let word = |index: usize| -> Result<u64, Reason> {
        let measurement = compartments.measurement(handle)?;
        let (words, _) = measurement.as_chunks::<8>();
        Ok(words.get(index).map_or(0, |word| u64::from_be_bytes(*word)))
    };
    let fact = match which {
        CompartmentFact::Phase => compartments.phase(handle).map(|it| it.number()),
        CompartmentFact::Frames => compartments.frames(handle).map(|it| it.0),
        CompartmentFact::Limit => compartments.frames(handle).map(|it| it.1),
        CompartmentFact::Measurement0 => word(0),
        CompartmentFact::Measurement1 => word(1),
        CompartmentFact::Measurement2 => word(2),
        CompartmentFact::Measurement3 => word(3),
    };
    fact.map_err(Refusal::rule)
}
