// SPDX-License-Identifier: MIT OR Apache-2.0
//! What may be mapped how: the check of a leaf.

use donjon_abi::call::Reason;
use donjon_abi::layout::{BLOCK_SIZE, PAGE_SIZE};
use donjon_abi::tcr::MAIR_NORMAL;

use super::bits;
use super::checks::Checks;
use crate::address::ENTRIES;
use crate::devices::DeviceList;
use crate::frames::{FrameTable, FrameType, NO_FRAME, type_of};
use crate::placement::Range;

/// MAIR index of Normal memory that would be tagged if the CPU had tags: the linear map uses it.
const MAIR_TAGGED: u64 = 1;
/// MAIR index of Normal non-cacheable memory, the first that a device may be mapped with.
const MAIR_UNCACHED: u64 = 2;
/// The last MAIR index that means anything.
const MAIR_LAST: u64 = 4;

/// Whether a leaf can be written through.
pub(super) const fn is_writable<C: Checks>(leaf: u64) -> bool {
    leaf & bits::READ_ONLY == 0 || (C::DIRTY_BIT_MODIFIER && leaf & bits::DIRTY_BIT_MODIFIER != 0)
}

const fn index(leaf: u64) -> u64 {
    (leaf & bits::INDEX) >> bits::INDEX_SHIFT
}

/// Checks a valid descriptor of level 3.
pub(super) fn check_page<C: Checks>(
    frames: &FrameTable<'_>,
    devices: &DeviceList,
    leaf: u64,
    user: bool,
) -> Result<(), Reason> {
    if leaf & bits::TABLE != bits::TABLE {
        return Err(Reason::BadDescriptor);
    }
    check_bits::<C>(leaf, user)?;
    let output = leaf & bits::ADDRESS;
    match type_of(frames.word(output)) {
        Some(frame) => check_frame::<C>(frame, leaf, user),
        None => check_device(devices, output, PAGE_SIZE, leaf, user),
    }
}

/// Checks a block of level 2, which only the kernel's tables have.
pub(super) fn check_block<C: Checks>(
    frames: &FrameTable<'_>,
    devices: &DeviceList,
    leaf: u64,
) -> Result<(), Reason> {
    let output = leaf & bits::ADDRESS;
    if !output.is_multiple_of(BLOCK_SIZE) {
        return Err(Reason::BadDescriptor);
    }
    check_bits::<C>(leaf | bits::TABLE, false)?;
    match frames.words(output, ENTRIES) {
        Some(words) if words.iter().all(|word| *word == 0) => Ok(()),
        Some(words) if words.iter().any(|word| *word != NO_FRAME) => {
            if C::TARGET {
                Err(Reason::BadTarget)
            } else {
                Ok(())
            }
        }
        // A block that is RAM in part is on no list of devices.
        _ => check_device(devices, output, BLOCK_SIZE, leaf, false),
    }
}

/// What holds whatever the leaf shows.
fn check_bits<C: Checks>(leaf: u64, user: bool) -> Result<(), Reason> {
    let contiguous = if C::CONTIGUOUS { 0 } else { bits::CONTIGUOUS };
    if leaf & !(bits::OF_PAGE | contiguous) != 0 {
        return Err(Reason::BadDescriptor);
    }
    if C::EXECUTE && leaf & bits::NO_EL1 == 0 {
        return Err(Reason::Executable);
    }
    let (looked_at, expected) = if user {
        (bits::NON_GLOBAL, bits::NON_GLOBAL)
    } else {
        (
            bits::NON_GLOBAL | bits::EL0 | bits::NO_EL0 | bits::GUARDED,
            bits::NO_EL0,
        )
    };
    if leaf & looked_at != expected {
        return Err(Reason::BadDescriptor);
    }
    if leaf & bits::SHAREABILITY == bits::RESERVED_SHAREABILITY || index(leaf) > MAIR_LAST {
        return Err(Reason::BadAttributes);
    }
    Ok(())
}

fn check_frame<C: Checks>(frame: FrameType, leaf: u64, user: bool) -> Result<(), Reason> {
    if !C::TARGET {
        return Ok(());
    }
    match frame {
        FrameType::Ordinary => return Ok(()),
        FrameType::Inner | FrameType::Gate | FrameType::Claimed => return Err(Reason::BadTarget),
        // The vDSO is kernel text or constants.
        FrameType::KernelText | FrameType::KernelReadOnly => {}
        FrameType::PoolFree
        | FrameType::UserTable0
        | FrameType::UserTable1
        | FrameType::UserTable2
        | FrameType::UserTable3
        | FrameType::KernelTable0
        | FrameType::KernelTable1
        | FrameType::KernelTable2
        | FrameType::KernelTable3
        | FrameType::KernelVectors
        | FrameType::TextPoolFree
        | FrameType::ModuleText => {
            if user {
                return Err(Reason::BadTarget);
            }
        }
    }
    if is_writable::<C>(leaf) {
        return Err(Reason::BadTarget);
    }
    // One set of memory attributes, or the caches of two mappings may disagree (Arm DDI 0487,
    // B2.11). Both indices mean Normal write-back.
    if !is_write_back(leaf) {
        return Err(Reason::BadAttributes);
    }
    Ok(())
}

/// Whether a leaf has the memory attributes of the frames that are not Linux's to choose.
pub(super) fn is_write_back(leaf: u64) -> bool {
    let normal = index(leaf) == u64::from(MAIR_NORMAL) || index(leaf) == MAIR_TAGGED;
    normal && leaf & bits::SHAREABILITY == bits::INNER_SHAREABLE
}

fn check_device(
    devices: &DeviceList,
    output: u64,
    size: u64,
    leaf: u64,
    user: bool,
) -> Result<(), Reason> {
    let listed = Range::with_size(output, size).is_some_and(|range| devices.encloses(range));
    if !listed {
        return Err(Reason::NotMemory);
    }
    if user {
        return Err(Reason::BadTarget);
    }
    if index(leaf) < MAIR_UNCACHED {
        return Err(Reason::BadAttributes);
    }
    Ok(())
}
