// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the boot stage asks of a UEFI firmware.

extern crate alloc;

use alloc::vec::Vec;
use core::ffi::c_void;
use core::fmt;
use core::ptr;

use donjon_abi::layout::PAGE_SIZE;
use donjon_core::memory::firmware_memory::Region;
use donjon_core::range::Range;
use donjon_hal::console::text::put_text;
use uefi_raw::protocol::device_path::DevicePathProtocol;
use uefi_raw::protocol::loaded_image::LoadedImageProtocol;
use uefi_raw::table::boot::{AllocateType, BootServices, MemoryDescriptor, MemoryType};
use uefi_raw::table::system::SystemTable;
use uefi_raw::{Guid, Handle, Status};

use super::failure::EfiFailure;

/// EFI_DTB_TABLE_GUID (UEFI 2.10, 4.6).
const DEVICE_TREE: Guid = Guid::parse_or_panic("b1b621d5-f19c-41a5-830b-d9152c69aae0");
/// EFI_ACPI_20_TABLE_GUID.
const ACPI: Guid = Guid::parse_or_panic("8868e871-e4f1-11d3-bc22-0080c73c8881");
/// Room for entries that appear between two looks at the memory map.
const SPARE_ENTRIES: usize = 32;

/// The firmware, until boot services end.
#[derive(Clone, Copy)]
pub struct Firmware {
    table: &'static SystemTable,
    handle: Handle,
}

impl Firmware {
    /// The firmware that started us.
    ///
    /// # Safety
    ///
    /// Both are what the entry point got, and boot services have not ended.
    pub const unsafe fn new(handle: Handle, table: &'static SystemTable) -> Self {
        Self { table, handle }
    }

    fn services(&self) -> &'static BootServices {
        // SAFETY: valid until boot services end, and this value is not used after that.
        unsafe { &*self.table.boot_services }
    }

    /// Revision of the UEFI specification that the firmware follows: 2 and 70 for 2.7.
    pub fn revision(&self) -> (u16, u16) {
        let revision = self.table.header.revision.0;
        ((revision >> 16) as u16, revision as u16)
    }

    /// Address of the device tree.
    ///
    /// # Errors
    ///
    /// If the firmware has none.
    pub fn device_tree(&self) -> Result<u64, EfiFailure> {
        match self.configuration(&DEVICE_TREE) {
            Some(address) => Ok(address),
            None if self.configuration(&ACPI).is_some() => Err(EfiFailure::OnlyAcpi),
            None => Err(EfiFailure::NoDeviceTree),
        }
    }

    fn configuration(&self, guid: &Guid) -> Option<u64> {
        if self.table.configuration_table.is_null() {
            return None;
        }
        // SAFETY: the system table has this number of entries there.
        let entries = unsafe {
            core::slice::from_raw_parts(
                self.table.configuration_table,
                self.table.number_of_configuration_table_entries,
            )
        };
        let entry = entries.iter().find(|it| it.vendor_guid == *guid)?;
        Some(entry.vendor_table as u64).filter(|it| *it != 0)
    }

    /// What the loader calls options: the command line.
    pub fn load_options(&self) -> Option<&'static [u16]> {
        let image =
            self.protocol::<LoadedImageProtocol>(self.handle, &LoadedImageProtocol::GUID)?;
        // SAFETY: the protocol of our own handle, which is valid as long as we run.
        let image = unsafe { &*image };
        if image.load_options.is_null() || !(image.load_options as usize).is_multiple_of(2) {
            return None;
        }
        // SAFETY: the loader put this number of bytes there, and they stay.
        Some(unsafe {
            core::slice::from_raw_parts(
                image.load_options.cast::<u16>(),
                image.load_options_size as usize / 2,
            )
        })
    }

    /// The protocol of a handle.
    pub fn protocol<T>(&self, handle: Handle, guid: &Guid) -> Option<*mut T> {
        let mut found = ptr::null_mut();
        // SAFETY: a boot service with valid arguments.
        let status = unsafe { (self.services().handle_protocol)(handle, guid, &mut found) };
        (status == Status::SUCCESS && !found.is_null()).then_some(found.cast())
    }

    /// The handle with this protocol that a device path leads to, and what is left of the path.
    pub fn locate(
        &self,
        guid: &Guid,
        mut path: *const DevicePathProtocol,
    ) -> Option<(Handle, *const DevicePathProtocol)> {
        let mut handle = ptr::null_mut();
        // SAFETY: a boot service with valid arguments.
        let status = unsafe { (self.services().locate_device_path)(guid, &mut path, &mut handle) };
        (status == Status::SUCCESS).then_some((handle, path))
    }

    /// Allocates pages that stay ours when boot services end. Their address is a multiple of
    /// `alignment`.
    ///
    /// # Errors
    ///
    /// If the firmware has no such memory.
    pub fn allocate(&self, size: u64, alignment: u64) -> Result<Range, EfiFailure> {
        let failure = |status| EfiFailure::Allocate(size >> 10, status);
        let pages = (size + alignment - PAGE_SIZE).div_ceil(PAGE_SIZE) as usize;
        let mut start = 0;
        // SAFETY: a boot service with valid arguments.
        let status = unsafe {
            (self.services().allocate_pages)(
                AllocateType::ANY_PAGES,
                MemoryType::LOADER_DATA,
                pages,
                &mut start,
            )
        };
        if status != Status::SUCCESS {
            return Err(failure(status));
        }
        let start = start.next_multiple_of(alignment);
        Range::with_size(start, size).ok_or(failure(Status::OUT_OF_RESOURCES))
    }

    /// A buffer for [`memory_map`](Self::memory_map) with room for a few more entries.
    ///
    /// # Errors
    ///
    /// If there is no memory for it.
    pub fn map_buffer(&self) -> Result<Range, EfiFailure> {
        let (mut size, mut key, mut stride, mut version) = (0, 0, 0, 0);
        // SAFETY: a boot service that only says how large its answer is.
        let status = unsafe {
            (self.services().get_memory_map)(
                &mut size,
                ptr::null_mut(),
                &mut key,
                &mut stride,
                &mut version,
            )
        };
        if status != Status::BUFFER_TOO_SMALL || stride < size_of::<MemoryDescriptor>() {
            return Err(EfiFailure::MemoryMap(status));
        }
        self.allocate((size + SPARE_ENTRIES * stride) as u64, PAGE_SIZE)
    }

    /// The memory map and its key.
    ///
    /// # Errors
    ///
    /// If the firmware does not give it.
    pub fn memory_map(&self, buffer: Range) -> Result<(Vec<Region>, usize), EfiFailure> {
        let (mut size, mut key, mut stride, mut version) = (buffer.size() as usize, 0, 0, 0);
        // SAFETY: the buffer is ours and as large as that.
        let status = unsafe {
            (self.services().get_memory_map)(
                &mut size,
                buffer.start() as *mut MemoryDescriptor,
                &mut key,
                &mut stride,
                &mut version,
            )
        };
        if status != Status::SUCCESS || stride < size_of::<MemoryDescriptor>() {
            return Err(EfiFailure::MemoryMap(status));
        }
        let count = size.min(buffer.size() as usize) / stride;
        let entry = |index: usize| {
            let address = buffer.start() as usize + index * stride;
            // SAFETY: inside the buffer, where the firmware wrote entries that many bytes apart.
            let entry = unsafe { (address as *const MemoryDescriptor).read_unaligned() };
            Region {
                kind: entry.ty.0,
                attributes: entry.att.bits(),
                start: entry.phys_start,
                pages: entry.page_count,
            }
        };
        Ok(((0..count).map(entry).collect(), key))
    }

    /// Ends boot services; returns the memory map of that moment. An event may change the map
    /// between the two calls to the firmware; then both are repeated, and no other call is made,
    /// because the firmware may be half gone (UEFI 2.10, 7.4.6).
    ///
    /// # Errors
    ///
    /// If the firmware refuses for a reason other than a changed map, or each time.
    pub fn exit(self, buffer: Range) -> Result<Vec<Region>, EfiFailure> {
        const ATTEMPTS: usize = 4;
        let mut status = Status::SUCCESS;
        for _ in 0..ATTEMPTS {
            let (map, key) = self.memory_map(buffer)?;
            // SAFETY: after success nothing uses the firmware: this value is gone.
            status = unsafe { (self.services().exit_boot_services)(self.handle, key) };
            if status == Status::SUCCESS {
                return Ok(map);
            }
            if status != Status::INVALID_PARAMETER {
                break;
            }
        }
        Err(EfiFailure::Exit(status))
    }
}

/// Writes to the firmware's console.
impl fmt::Write for Firmware {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let console = self.table.stdout;
        if console.is_null() {
            return Ok(());
        }
        // One character and the end of the text: the firmware takes UCS-2.
        put_text(text, |byte| {
            let unit = [u16::from(byte), 0];
            // SAFETY: the console of the system table, and a text that ends.
            let _ = unsafe { ((*console).output_string)(console, unit.as_ptr()) };
        });
        Ok(())
    }
}

/// A device path in the type that the firmware's functions take.
pub const fn device_path<T>(path: &T) -> *const DevicePathProtocol {
    ptr::from_ref(path).cast()
}

/// The buffer at `address` in the type that the firmware's functions take.
pub const fn buffer(address: u64) -> *mut c_void {
    address as *mut c_void
}
