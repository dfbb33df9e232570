// SPDX-License-Identifier: MIT OR Apache-2.0
//! The initial ramdisk that a boot loader offers to Linux: a file behind a device path of its
//! own, which EDK2 for QEMU and GRUB 2.12 have. GRUB 2.06 names it in the device tree instead.

use core::ptr;

use donjon_abi::layout::PAGE_SIZE;
use donjon_core::range::Range;
use uefi_raw::protocol::device_path::{DevicePathProtocol, DeviceSubType, DeviceType};
use uefi_raw::protocol::media::LoadFile2Protocol;
use uefi_raw::{Boolean, Guid, Status};

use super::failure::EfiFailure;
use super::firmware::{Firmware, buffer, device_path};

/// A path of one vendor-defined node (UEFI 2.10, 10.3.5.3).
#[repr(C)]
struct Path {
    node: DevicePathProtocol,
    vendor: Guid,
    end: DevicePathProtocol,
}

/// LINUX_EFI_INITRD_MEDIA_GUID.
const PATH: Path = Path {
    node: DevicePathProtocol {
        major_type: DeviceType::MEDIA,
        sub_type: DeviceSubType::MEDIA_VENDOR,
        length: 20u16.to_le_bytes(),
    },
    vendor: Guid::parse_or_panic("5568e427-68fc-4f3d-ac74-ca555231cc68"),
    end: DevicePathProtocol {
        major_type: DeviceType::END,
        sub_type: DeviceSubType::END_ENTIRE,
        length: 4u16.to_le_bytes(),
    },
};

/// Loads the initial RAM disk, if there is one.
///
/// # Errors
///
/// If there is one and it cannot be loaded.
pub fn load(firmware: Firmware) -> Result<Option<Range>, EfiFailure> {
    let path = PATH;
    let found = firmware.locate(&LoadFile2Protocol::GUID, device_path(&path));
    let Some((handle, rest)) = found else {
        return Ok(None);
    };
    let protocol = firmware.protocol::<LoadFile2Protocol>(handle, &LoadFile2Protocol::GUID);
    let protocol = protocol.ok_or(EfiFailure::InitialRamdisk(Status::NOT_FOUND))?;
    let mut size = 0;
    let mut load = |buffer| {
        // SAFETY: a protocol of a handle that has it, and a buffer of `size` bytes or none.
        let status =
            unsafe { ((*protocol).load_file)(protocol, rest, Boolean::FALSE, &mut size, buffer) };
        (status, size)
    };
    match load(ptr::null_mut()) {
        (Status::BUFFER_TOO_SMALL, size) if size > 0 => {
            let memory = firmware.allocate(size as u64, PAGE_SIZE)?;
            match load(buffer(memory.start())) {
                (Status::SUCCESS, _) => Ok(Some(memory)),
                (status, _) => Err(EfiFailure::InitialRamdisk(status)),
            }
        }
        (Status::SUCCESS | Status::NOT_FOUND | Status::BUFFER_TOO_SMALL, _) => Ok(None),
        (status, _) => Err(EfiFailure::InitialRamdisk(status)),
    }
}
