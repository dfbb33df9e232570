// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the machine has in its memory when it starts, as an ELF file, which gem5 loads.

use anyhow::{Context, Result};
use object::Endianness;
use object::elf;
use object::write::elf::{FileHeader, ProgramHeader, Writer};

const PAGE: u64 = 0x1000;

/// Bytes and their physical address.
pub type Segment<'a> = (u64, &'a [u8]);

/// An ELF file that has `segments`, and starts at the physical address `entry`.
pub fn link(segments: &[Segment<'_>], entry: u64) -> Result<Vec<u8>> {
    let mut file = Vec::new();
    let mut writer = Writer::new(Endianness::Little, true, &mut file);
    writer.reserve_file_header();
    writer.reserve_program_headers(u32::try_from(segments.len())?);
    let offsets: Vec<u64> = segments
        .iter()
        .map(|(_, bytes)| writer.reserve(bytes.len() as u64, PAGE))
        .collect();
    writer
        .write_file_header(&FileHeader {
            os_abi: elf::ELFOSABI_NONE,
            abi_version: 0,
            e_type: elf::ET_EXEC,
            e_machine: elf::EM_AARCH64,
            e_entry: entry,
            e_flags: elf::FileFlags(0),
        })
        .context("writing the ELF file for gem5")?;
    writer.write_align_program_headers();
    for (&(address, bytes), offset) in segments.iter().zip(offsets) {
        let size = bytes.len() as u64;
        writer.write_program_header(&ProgramHeader {
            p_type: elf::PT_LOAD,
            p_flags: elf::PF_R | elf::PF_W | elf::PF_X,
            p_offset: offset,
            p_vaddr: address,
            p_paddr: address,
            p_filesz: size,
            p_memsz: size,
            p_align: PAGE,
        });
    }
    for (_, bytes) in segments {
        writer.write_align(PAGE);
        writer.write(bytes);
    }
    Ok(file)
}

/// Code that jumps to `image` with `tree` in X0, as Linux's boot protocol has it. X1 to X3 are zero
/// after reset in gem5.
pub fn start(image: u32, tree: u32) -> Vec<u8> {
    let set = |register: u32, value: u32| {
        // MOVZ Xd, #low; MOVK Xd, #high, LSL #16.
        [
            0xd280_0000 | (value & 0xffff) << 5 | register,
            0xf2a0_0000 | (value >> 16) << 5 | register,
        ]
    };
    // BR X4.
    let jump = 0xd61f_0080;
    [&set(0, tree)[..], &set(4, image), &[jump]]
        .concat()
        .iter()
        .flat_map(|it: &u32| it.to_le_bytes())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::read::elf::ElfFile64;
    use object::{Object, ObjectSegment};

    #[test]
    fn each_segment_is_where_it_should_be() {
        let image: Vec<u8> = (0..10_000_u32).map(|it| it as u8).collect();
        let segments = [(0x8020_0000, &*image), (0x8000_0000, &b"start"[..])];
        let file = link(&segments, 0x8000_0000).expect("a file");
        let file = ElfFile64::<Endianness>::parse(&*file).expect("ELF");
        assert_eq!(file.entry(), 0x8000_0000);
        assert_eq!(file.segments().count(), segments.len());
        for (found, (address, bytes)) in file.segments().zip(segments) {
            assert_eq!(found.address(), address);
            assert_eq!(found.data().ok(), Some(bytes));
        }
    }

    #[test]
    fn the_start_has_both_addresses() {
        let words: Vec<u32> = start(0x8020_0000, 0x8800_1234)
            .chunks(4)
            .map(|it| u32::from_le_bytes(it.try_into().expect("four bytes")))
            .collect();
        // As `llvm-mc -show-encoding` has them.
        let expected = [
            0xd282_4680, // movz x0, #0x1234
            0xf2b1_0000, // movk x0, #0x8800, lsl #16
            0xd280_0004, // movz x4, #0
            0xf2b0_0404, // movk x4, #0x8020, lsl #16
            0xd61f_0080, // br x4
        ];
        assert_eq!(words, expected);
    }
}
