// SPDX-License-Identifier: MIT OR Apache-2.0
//! What becomes of a descriptor of Linux's in a shadow.

use donjon_abi::call::Reason;
use donjon_abi::layout::BLOCK_SIZE;

use crate::checks::Checks;
use crate::translation::bits;
use crate::translation::frames::{FrameTable, FrameType, type_of};
use crate::translation::{RawDescriptor, leaf};

/// What a shadow takes over. Not in it: what only Linux reads, and DBM. Contiguous is a hint about
/// neighbours, which are other entries' business.
const KEPT: u64 = bits::TABLE
    | bits::OUTPUT_ADDRESS
    | bits::INDEX
    | bits::SHAREABILITY
    | bits::EL0
    | bits::READ_ONLY
    | bits::ACCESSED
    | bits::NON_GLOBAL
    | bits::GUARDED
    | bits::NO_EL1
    | bits::NO_EL0;

/// What a shadow takes over of a descriptor.
pub(super) fn shadow_of<C: Checks>(descriptor: u64) -> u64 {
    let contiguous = if C::CONTIGUOUS.is_made() {
        0
    } else {
        bits::CONTIGUOUS
    };
    let dirty = if C::DIRTY_BIT_MODIFIER.is_made() {
        0
    } else {
        bits::DIRTY_BIT_MODIFIER
    };
    descriptor & (KEPT | contiguous | dirty)
}

/// The shadow of a descriptor that [`is_common`].
pub(super) fn shadow_of_common<C: Checks>(descriptor: u64) -> u64 {
    if C::DIRTY_BIT_MODIFIER.is_made() {
        descriptor & !(bits::DIRTY_BIT_MODIFIER | bits::SOFTWARE)
    } else {
        descriptor & !bits::SOFTWARE
    }
}

const _: () = assert!(
    (bits::COMMON | bits::LIVE | bits::OUTPUT_ADDRESS)
        & !(bits::DIRTY_BIT_MODIFIER | bits::SOFTWARE)
        & !KEPT
        == 0
);

/// Whether a descriptor is a valid page of the most common kind, a user's ordinary memory.
#[inline(always)]
pub(super) fn is_common(frames: &FrameTable<'_>, descriptor: u64) -> bool {
    bits::is_common(descriptor)
        && frames.word(descriptor & bits::OUTPUT_ADDRESS) == FrameType::Ordinary as u16
}

/// Whether both descriptors are of ordinary user pages, with nothing else to check.
#[inline(always)]
pub(super) fn are_common(frames: &FrameTable<'_>, [low, high]: [u64; 2]) -> bool {
    bits::are_common(low, high)
        && frames.are_ordinary(low & bits::OUTPUT_ADDRESS, high & bits::OUTPUT_ADDRESS)
}

/// The shadow of a valid page descriptor.
///
/// # Errors
///
/// A [`Reason`] for what a user's page may not be.
#[inline(always)]
pub(super) fn page<C: Checks>(frames: &FrameTable<'_>, descriptor: u64) -> Result<u64, Reason> {
    if is_common(frames, descriptor) {
        return Ok(shadow_of_common::<C>(descriptor));
    }
    unusual_page::<C>(frames, descriptor)
}

#[cold]
#[inline(never)]
fn unusual_page<C: Checks>(frames: &FrameTable<'_>, descriptor: u64) -> Result<u64, Reason> {
    if descriptor & bits::TABLE != bits::TABLE {
        return Err(Reason::BadDescriptor);
    }
    let shadow = shadow_of::<C>(descriptor);
    leaf::check_bits::<C>(RawDescriptor(descriptor & !bits::CONTIGUOUS), true)?;
    let frame = type_of(frames.word(descriptor & bits::OUTPUT_ADDRESS)).ok_or(Reason::NotMemory)?;
    leaf::check_frame::<C>(frame, RawDescriptor(shadow), true)?;
    Ok(shadow)
}

/// The shadow of a valid block descriptor of level 2: a block whose frames are all ordinary.
///
/// # Errors
///
/// A [`Reason`] for what a user's block may not be.
pub(super) fn block<C: Checks>(frames: &FrameTable<'_>, descriptor: u64) -> Result<u64, Reason> {
    let output = descriptor & bits::OUTPUT_ADDRESS;
    if !bits::is_block(descriptor) || !output.is_multiple_of(BLOCK_SIZE) {
        return Err(Reason::BadDescriptor);
    }
    let as_page = RawDescriptor((descriptor | bits::TABLE) & !bits::CONTIGUOUS);
    leaf::check_bits::<C>(as_page, true)?;
    match frames.is_ordinary_block(output) {
        None => Err(Reason::NotMemory),
        Some(false) if C::TARGET.is_made() => Err(Reason::BadTarget),
        Some(_) => Ok(shadow_of::<C>(descriptor)),
    }
}
