// SPDX-License-Identifier: MIT OR Apache-2.0
//! The check of a leaf: which frame may be mapped with which attributes.

use donjon_abi::call::Reason;
use donjon_abi::layout::{BLOCK_SIZE, PAGE_SIZE};
use donjon_abi::tcr::MAIR_NORMAL;

use super::bits;
use super::{FrameAddress, RawDescriptor};
use crate::checks::Checks;
use crate::devices::DeviceList;
use crate::range::Range;
use crate::translation::address::ENTRIES;
use crate::translation::frames::{FrameTable, FrameType, NO_FRAME, type_of};

/// MAIR index of Normal memory that would be tagged if the CPU had tags: the linear map uses it.
const MAIR_TAGGED: u64 = 1;
/// MAIR index of Normal non-cacheable memory, the first that a device may be mapped with.
const MAIR_UNCACHED: u64 = 2;
/// The last MAIR index that means anything.
const MAIR_LAST: u64 = 4;

/// Whether a leaf can be written through.
pub(crate) fn is_writable<C: Checks>(leaf: RawDescriptor) -> bool {
    leaf.0 & bits::READ_ONLY == 0
        || (C::DIRTY_BIT_MODIFIER.is_made() && leaf.0 & bits::DIRTY_BIT_MODIFIER != 0)
}

const fn index(leaf: RawDescriptor) -> u64 {
    (leaf.0 & bits::INDEX) >> bits::INDEX_SHIFT
}

/// Checks a valid descriptor of a kernel table of level 3.
pub(crate) fn check_page<C: Checks>(
    frames: &FrameTable<'_>,
    devices: &DeviceList,
    leaf: RawDescriptor,
) -> Result<(), Reason> {
    // As a page is encoded at level 3.
    if !leaf.is_table() {
        return Err(Reason::BadDescriptor);
    }
    check_bits::<C>(leaf, false)?;
    let output = leaf.output();
    match type_of(frames.word(output.as_u64())) {
        Some(frame) => check_frame::<C>(frame, leaf, false),
        None => check_device::<C>(devices, output, PAGE_SIZE, leaf),
    }
}

/// Checks a block of a kernel table of level 2.
pub(crate) fn check_block<C: Checks>(
    frames: &FrameTable<'_>,
    devices: &DeviceList,
    leaf: RawDescriptor,
) -> Result<(), Reason> {
    let output = leaf.output();
    if !output.as_u64().is_multiple_of(BLOCK_SIZE) {
        return Err(Reason::BadDescriptor);
    }
    check_bits::<C>(leaf.with(bits::TABLE, 0), false)?;
    let mut words = (0..ENTRIES as u64).map(|frame| frames.word(output.after(frame).as_u64()));
    if words.clone().all(|word| word == 0) {
        Ok(())
    } else if words.any(|word| word != NO_FRAME) {
        // It is memory in part, or of several kinds.
        if C::TARGET.is_made() {
            Err(Reason::BadTarget)
        } else {
            Ok(())
        }
    } else {
        check_device::<C>(devices, output, BLOCK_SIZE, leaf)
    }
}

/// What holds whatever the leaf shows, one of the kernel's or one that a user is to have.
pub(crate) fn check_bits<C: Checks>(leaf: RawDescriptor, user: bool) -> Result<(), Reason> {
    let contiguous = if C::CONTIGUOUS.is_made() {
        0
    } else {
        bits::CONTIGUOUS
    };
    if leaf.0 & !(bits::OF_PAGE | contiguous) != 0 {
        return Err(Reason::BadDescriptor);
    }
    if C::EXECUTE.is_made() && leaf.is_executable() {
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
    if leaf.0 & looked_at != expected {
        return Err(Reason::BadDescriptor);
    }
    if leaf.0 & bits::SHAREABILITY == bits::RESERVED_SHAREABILITY || index(leaf) > MAIR_LAST {
        return Err(Reason::BadAttributes);
    }
    // Hardware need not keep a line coherent that another CPU has of Non-shareable memory (Arm DDI
    // 0487, B2.10.1). Written back late, it would replace what the inner domain has written to a
    // frame that it took since.
    if index(leaf) < MAIR_UNCACHED && leaf.0 & bits::SHAREABILITY != bits::INNER_SHAREABLE {
        return Err(Reason::BadAttributes);
    }
    Ok(())
}

/// What the type of the frame asks for.
pub(crate) fn check_frame<C: Checks>(
    frame: FrameType,
    leaf: RawDescriptor,
    user: bool,
) -> Result<(), Reason> {
    if !C::TARGET.is_made() {
        return Ok(());
    }
    match frame {
        FrameType::Ordinary => return Ok(()),
        FrameType::Inner | FrameType::Gate | FrameType::Claimed | FrameType::Private => {
            return Err(Reason::BadTarget);
        }
        // The vDSO is kernel text or constants.
        FrameType::KernelText | FrameType::KernelReadOnly => {}
        FrameType::PoolFree
        | FrameType::KernelTable0
        | FrameType::KernelTable1
        | FrameType::KernelTable2
        | FrameType::KernelTable3
        | FrameType::KernelVectors
        | FrameType::TextPoolFree
        | FrameType::ModuleText
        | FrameType::TableBlock => {
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
pub(crate) fn is_write_back(leaf: RawDescriptor) -> bool {
    let normal = index(leaf) == u64::from(MAIR_NORMAL) || index(leaf) == MAIR_TAGGED;
    normal && leaf.0 & bits::SHAREABILITY == bits::INNER_SHAREABLE
}

fn check_device<C: Checks>(
    devices: &DeviceList,
    output: FrameAddress,
    size: u64,
    leaf: RawDescriptor,
) -> Result<(), Reason> {
    let output = output.as_u64();
    let listed = Range::with_size(output, size).is_some_and(|range| devices.encloses(range));
    let readable = || {
        let range = Range::with_size(output, size);
        !is_writable::<C>(leaf) && range.is_some_and(|range| devices.is_readable(range))
    };
    if C::DEVICES.is_made() && !listed && !readable() {
        return Err(Reason::NotMemory);
    }
    if index(leaf) < MAIR_UNCACHED {
        return Err(Reason::BadAttributes);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::AtomicU16;

    use super::*;
    use crate::checks::Configured;

    const RAM: u64 = 0x4010_0000;
    const FRAMES: u64 = 768;
    /// Kernel, device, never executable.
    const DEVICE: u64 = 1 << 54 | 1 << 53 | 1 << 10 | 4 << 2 | 1;

    /// RAM from the middle of a block to the end of the next one and a bit, or with a hole; the
    /// list of devices has all of it.
    fn check(block: u64, hole: Option<u64>) -> Result<(), Reason> {
        let entries = [const { AtomicU16::new(0) }; FRAMES as usize + 1];
        let frames = FrameTable::new(RAM, &entries);
        if let Some(hole) = hole {
            frames.remove(hole);
        }
        let mut devices = DeviceList::new();
        let everything = Range::new(0x3fc0_0000, 0x4080_0000).expect("not empty");
        devices.add(everything).expect("room");
        check_block::<Configured>(&frames, &devices, RawDescriptor(block | DEVICE))
    }

    #[test]
    fn a_block_that_is_memory_in_part_is_no_device() {
        let end = RAM + FRAMES * PAGE_SIZE;
        assert_eq!(check(RAM - BLOCK_SIZE / 2, None), Err(Reason::BadTarget));
        assert_eq!(check(end, None), Err(Reason::BadTarget));
        let middle = RAM + BLOCK_SIZE / 2;
        assert_eq!(check(middle, Some(middle)), Err(Reason::BadTarget));
        assert_eq!(check(middle, None), Ok(()));
    }

    #[test]
    fn a_block_beside_memory_may_be_a_device() {
        assert_eq!(check(RAM - 3 * BLOCK_SIZE / 2, None), Ok(()));
        assert_eq!(check(0x4060_0000, None), Ok(()));
    }

    #[test]
    fn a_page_of_mediated_registers_is_mapped_read_only() {
        use donjon_abi::boot_info::{Bank, MAX_MEDIATED, MAX_READABLE, Mediated};

        use crate::devices::WritableRegister;

        let page = 0x3f00_b000;
        let entries = [const { AtomicU16::new(0) }; 1];
        let frames = FrameTable::new(RAM, &entries);
        let mut mediated = [Mediated::default(); MAX_MEDIATED];
        mediated[1] = Mediated {
            registers: Bank {
                start: page + 0x210,
                end: page + 0x228,
            },
            mapped: 0x1210,
            bits: 0xff,
        };
        let mut readable = [Bank::default(); MAX_READABLE];
        readable[2] = Bank {
            start: page,
            end: page + PAGE_SIZE,
        };
        let devices = DeviceList::new().with_mediated(readable, mediated);
        let check = |output: u64, more: u64| {
            let leaf = RawDescriptor(output | more | DEVICE | 2);
            check_page::<Configured>(&frames, &devices, leaf)
        };
        const DBM: u64 = 1 << 51;
        assert_eq!(check(page, bits::READ_ONLY), Ok(()));
        assert_eq!(check(page, 0), Err(Reason::NotMemory));
        assert_eq!(check(page, bits::READ_ONLY | DBM), Err(Reason::NotMemory));
        for other in [0, page - PAGE_SIZE, page + PAGE_SIZE] {
            assert_eq!(check(other, bits::READ_ONLY), Err(Reason::NotMemory));
        }
        let register = |address| {
            Some(WritableRegister {
                address,
                bits: 0xff,
            })
        };
        assert_eq!(devices.writable_register(page + 0x210), register(0x1210));
        assert_eq!(devices.writable_register(page + 0x224), register(0x1224));
        for address in [0x20c, 0x212, 0x228, 0x880] {
            assert_eq!(devices.writable_register(page + address), None);
        }
        assert_eq!(devices.writable_register(0), None);
    }
}
