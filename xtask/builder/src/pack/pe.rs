// SPDX-License-Identifier: MIT OR Apache-2.0
//! The PE header by which UEFI starts a boot image (PE Format of Microsoft; UEFI 2.10, 2.1.1).
//!
//! Offsets in the file are offsets in memory. The header's page is followed by two sections: what
//! runs while the firmware's mapping is in use, read-only, and everything else, not executable.

use anyhow::{Context, Result, ensure};
use donjon_abi::layout::PAGE_SIZE;
use donjon_abi::manifest::{PE_OFFSET, PE_SIZE};
use object::endian::{LittleEndian, U16, U32, U64};
use object::pe;
use object::pod::bytes_of;

/// Where the parts of an image are.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    /// Entry point.
    pub entry: u64,
    /// First byte that is written before the image is copied.
    pub data: u64,
    /// Bytes in memory.
    pub memory_size: u64,
}

/// Writes the header into `image`, whose length is a multiple of the page size.
pub fn write(image: &mut [u8], parts: Parts) -> Result<()> {
    let Parts {
        entry,
        data,
        memory_size,
    } = parts;
    let file_size = image.len() as u64;
    ensure!(
        (PAGE_SIZE..data).contains(&entry) && data < file_size && file_size <= memory_size,
        "the entry point for UEFI is not between the header and the data of the boot stage"
    );
    ensure!(
        data.is_multiple_of(PAGE_SIZE) && file_size.is_multiple_of(PAGE_SIZE),
        "the data of the boot stage or the end of the boot image is inside a page"
    );
    let memory_size = memory_size.next_multiple_of(PAGE_SIZE);
    let number = |value: u64| -> Result<U32<LittleEndian>> {
        let value = u32::try_from(value).context("the boot image is larger than 4 GiB")?;
        Ok(U32::new(LittleEndian, value))
    };
    let headers = pe::ImageNtHeaders64 {
        signature: U32::new(LittleEndian, pe::IMAGE_NT_SIGNATURE),
        file_header: pe::ImageFileHeader {
            machine: U16::new(LittleEndian, pe::IMAGE_FILE_MACHINE_ARM64),
            number_of_sections: U16::new(LittleEndian, 2),
            time_date_stamp: number(0)?,
            pointer_to_symbol_table: number(0)?,
            number_of_symbols: number(0)?,
            size_of_optional_header: U16::new(
                LittleEndian,
                size_of::<pe::ImageOptionalHeader64>() as u16,
            ),
            characteristics: U16::new(
                LittleEndian,
                pe::IMAGE_FILE_EXECUTABLE_IMAGE
                    | pe::IMAGE_FILE_LINE_NUMS_STRIPPED
                    | pe::IMAGE_FILE_DEBUG_STRIPPED,
            ),
        },
        optional_header: pe::ImageOptionalHeader64 {
            magic: U16::new(LittleEndian, pe::IMAGE_NT_OPTIONAL_HDR64_MAGIC),
            major_linker_version: 0,
            minor_linker_version: 0,
            size_of_code: number(data - PAGE_SIZE)?,
            size_of_initialized_data: number(file_size - data)?,
            size_of_uninitialized_data: number(0)?,
            address_of_entry_point: number(entry)?,
            base_of_code: number(PAGE_SIZE)?,
            image_base: U64::new(LittleEndian, 0),
            section_alignment: number(PAGE_SIZE)?,
            file_alignment: number(PAGE_SIZE)?,
            major_operating_system_version: U16::new(LittleEndian, 0),
            minor_operating_system_version: U16::new(LittleEndian, 0),
            major_image_version: U16::new(LittleEndian, 0),
            minor_image_version: U16::new(LittleEndian, 0),
            major_subsystem_version: U16::new(LittleEndian, 0),
            minor_subsystem_version: U16::new(LittleEndian, 0),
            win32_version_value: number(0)?,
            size_of_image: number(memory_size)?,
            size_of_headers: number(PAGE_SIZE)?,
            check_sum: number(0)?,
            subsystem: U16::new(LittleEndian, pe::IMAGE_SUBSYSTEM_EFI_APPLICATION),
            dll_characteristics: U16::new(LittleEndian, pe::IMAGE_DLLCHARACTERISTICS_NX_COMPAT),
            size_of_stack_reserve: U64::new(LittleEndian, 0),
            size_of_stack_commit: U64::new(LittleEndian, 0),
            size_of_heap_reserve: U64::new(LittleEndian, 0),
            size_of_heap_commit: U64::new(LittleEndian, 0),
            loader_flags: number(0)?,
            // No relocations for the loader: the boot stage makes its own.
            number_of_rva_and_sizes: number(0)?,
        },
    };
    let section = |name: &[u8; 8], start, end, memory_end, flags| -> Result<_> {
        Ok(pe::ImageSectionHeader {
            name: *name,
            virtual_size: number(memory_end - start)?,
            virtual_address: number(start)?,
            size_of_raw_data: number(end - start)?,
            pointer_to_raw_data: number(start)?,
            characteristics: U32::new(LittleEndian, flags),
            ..pe::ImageSectionHeader::default()
        })
    };
    let code = pe::IMAGE_SCN_CNT_CODE | pe::IMAGE_SCN_MEM_EXECUTE | pe::IMAGE_SCN_MEM_READ;
    let rest = pe::IMAGE_SCN_CNT_INITIALIZED_DATA | pe::IMAGE_SCN_MEM_READ;
    let sections = [
        section(b".text\0\0\0", PAGE_SIZE, data, data, code)?,
        section(
            b".data\0\0\0",
            data,
            file_size,
            memory_size,
            rest | pe::IMAGE_SCN_MEM_WRITE,
        )?,
    ];
    let bytes = [
        bytes_of(&headers),
        bytes_of(&sections[0]),
        bytes_of(&sections[1]),
    ]
    .concat();
    ensure!(bytes.len() <= PE_SIZE, "the PE header is too long");
    image[PE_OFFSET..PE_OFFSET + bytes.len()].copy_from_slice(&bytes);
    Ok(())
}

#[cfg(test)]
mod tests {
    use object::read::pe::PeFile64;
    use object::{Architecture, Object, ObjectSection};

    use super::*;

    const PARTS: Parts = Parts {
        entry: 0x2010,
        data: 0x4000,
        memory_size: 0x9800,
    };

    fn image() -> Vec<u8> {
        let mut image = vec![0; 0x8000];
        image[..2].copy_from_slice(b"MZ");
        image[60..64].copy_from_slice(&(PE_OFFSET as u32).to_le_bytes());
        image
    }

    #[test]
    fn the_header_reads_back() {
        let mut image = image();
        write(&mut image, PARTS).expect("room");
        let file = PeFile64::parse(&*image).expect("a PE file");
        assert_eq!(file.architecture(), Architecture::Aarch64);
        assert_eq!(file.entry(), 0x2010);
        let sections: Vec<_> = file
            .sections()
            .map(|it| (it.address(), it.size()))
            .collect();
        assert_eq!(sections, [(0x1000, 0x3000), (0x4000, 0x6000)]);
        let header = file.nt_headers().optional_header;
        assert_eq!(header.size_of_image.get(LittleEndian), 0xa000);
    }

    #[test]
    fn parts_in_another_order_are_refused() {
        for wrong in [
            Parts { entry: 0, ..PARTS },
            Parts {
                entry: 0x4000,
                ..PARTS
            },
            Parts {
                data: 0x4800,
                ..PARTS
            },
            Parts {
                data: 0x8000,
                ..PARTS
            },
            Parts {
                memory_size: 0x7000,
                ..PARTS
            },
        ] {
            assert!(write(&mut image(), wrong).is_err(), "{wrong:?}");
        }
    }
}
