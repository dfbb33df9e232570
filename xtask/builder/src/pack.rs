// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packing a boot image: boot stage, inner domain and Linux behind one header, which is that of an
//! arm64 `Image` and that of a UEFI program.
//!
//! The layout is that of `donjon_abi::manifest`.

mod pe;
mod store;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use donjon_abi::layout::{BLOCK_SIZE, PAGE_SIZE, TABLE_BLOCK_SIZE};
use donjon_abi::manifest::{
    DmaProfile, MANIFEST_MAGIC, MANIFEST_OFFSET, MANIFEST_VERSION, MAX_SEGMENTS, Manifest, Segment,
    SwitchMode,
};
use object::elf;
use object::read::elf::{ElfFile64, ProgramHeader};
use object::{Endianness, Object, ObjectSymbol};
use zerocopy::IntoBytes;

use crate::kernel::Kernel;

/// Offset of `image_size` in the header of an arm64 `Image` (Documentation/arch/arm64/booting.rst).
const IMAGE_SIZE: usize = 16;
/// Offset of its magic number.
const IMAGE_MAGIC: usize = 56;

type Elf<'a> = ElfFile64<'a, Endianness>;

/// What a boot image is packed for.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// How the inner domain is entered.
    pub mode: SwitchMode,
    /// Which devices Linux gets.
    pub dma: DmaProfile,
    /// Bytes for compartments where devices are kept from memory; none for a part of RAM.
    pub protected: Option<u64>,
}

/// Packs a boot image and lets the link `newest` lead to it; returns where it is.
///
/// # Errors
///
/// If a program cannot be read or has not what the layout needs, or the image cannot be written.
pub fn pack(
    boot: &Path,
    inner: &Path,
    profile: Profile,
    kernel: &Kernel,
    newest: &Path,
) -> Result<PathBuf> {
    let boot = read(boot)?;
    let mut image = assemble(
        &boot,
        &read(inner)?,
        profile,
        &read(&kernel.image)?,
        Places::of(&kernel.vmlinux)?,
    )?;
    // Sections of PE files end with a page.
    pad(&mut image, PAGE_SIZE);
    let parts = efi_parts(&boot, image_size(&image)?).context("boot stage")?;
    pe::write(&mut image, parts)?;
    store::keep(&image, newest)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("reading {}", path.display()))
}

/// Places in Linux, from its first byte on.
#[derive(Clone, Copy, Debug)]
struct Places {
    /// The table block.
    table_block: u64,
    /// The end of text and constants.
    read_only: u64,
}

impl Places {
    fn of(vmlinux: &Path) -> Result<Self> {
        let bytes = read(vmlinux)?;
        let file = Elf::parse(&*bytes)?;
        let address = |name: &str| {
            let symbol = file.symbols().find(|it| it.name() == Ok(name));
            symbol.map(|it| it.address()).with_context(|| {
                format!(
                    "{} has no symbol {name}: is it built with CONFIG_DONJON?",
                    vmlinux.display()
                )
            })
        };
        let start = address("_text")?;
        let offset = |name: &str, unit: u64| match address(name)?.checked_sub(start) {
            Some(offset) if offset % unit == 0 => Ok(offset),
            _ => bail!("{name} is not aligned to {unit:#x} bytes in Linux"),
        };
        Ok(Self {
            table_block: offset("donjon_table_block", TABLE_BLOCK_SIZE)?,
            read_only: offset("__init_begin", PAGE_SIZE)?,
        })
    }
}

fn assemble(
    boot: &[u8],
    inner: &[u8],
    profile: Profile,
    linux: &[u8],
    places: Places,
) -> Result<Vec<u8>> {
    let mut image = flatten(boot).context("boot stage")?;
    ensure!(
        image.get(IMAGE_MAGIC..IMAGE_MAGIC + 4) == Some(b"ARM\x64"),
        "the boot stage does not begin with the header of an arm64 Image"
    );
    let inner_file = Elf::parse(inner).context("inner domain")?;
    let mut segments = [Segment::default(); MAX_SEGMENTS];
    let segment_count = append_segments(&mut image, &inner_file, inner, &mut segments)?;

    let linux_memory_size = image_size(linux).context("Linux")?;
    pad(&mut image, BLOCK_SIZE);
    let linux_offset = image.len() as u64;
    image.extend(linux);
    let manifest = Manifest {
        magic: MANIFEST_MAGIC,
        version: MANIFEST_VERSION,
        switch_mode: profile.mode as u64,
        dma_profile: profile.dma as u64,
        linux_offset,
        linux_file_size: linux.len() as u64,
        linux_memory_size,
        linux_table_block: places.table_block,
        linux_read_only: places.read_only,
        protected: profile.protected.unwrap_or(0),
        inner_init: inner_file.entry(),
        segment_count,
        segments,
    };
    let manifest = manifest.as_bytes();
    image[MANIFEST_OFFSET..MANIFEST_OFFSET + manifest.len()].copy_from_slice(manifest);
    let size = linux_offset + linux_memory_size;
    image[IMAGE_SIZE..IMAGE_SIZE + 8].copy_from_slice(&size.to_le_bytes());
    Ok(image)
}

/// Where UEFI enters the boot stage. All words that it relocates are in its data.
fn efi_parts(boot: &[u8], memory_size: u64) -> Result<pe::Parts> {
    let file = Elf::parse(boot)?;
    let address = |name: &str| {
        let symbol = file.symbols().find(|it| it.name() == Ok(name));
        symbol
            .map(|it| it.address())
            .with_context(|| format!("it has no symbol {name}"))
    };
    let data = address("boot_data_start")?;
    for (at, _) in file.dynamic_relocations().into_iter().flatten() {
        ensure!(
            at >= data,
            "it has a relocation at {at:#x}, in what UEFI maps read-only"
        );
    }
    Ok(pe::Parts {
        entry: address("efi_entry")?,
        data,
        memory_size,
    })
}

/// The load segments of the boot stage as they stand in memory, zeros included.
fn flatten(boot: &[u8]) -> Result<Vec<u8>> {
    let file = Elf::parse(boot)?;
    let mut image = Vec::new();
    for header in loads(&file) {
        let address = header.p_vaddr(Endianness::Little) as usize;
        let end = address + header.p_memsz(Endianness::Little) as usize;
        ensure!(
            end <= 64 << 20,
            "it ends at {end:#x}: it is not linked at address 0"
        );
        if image.len() < end {
            image.resize(end, 0);
        }
        let bytes = data(header, boot)?;
        image[address..address + bytes.len()].copy_from_slice(bytes);
    }
    ensure!(
        image.len() >= MANIFEST_OFFSET + size_of::<Manifest>(),
        "it is too short for the manifest"
    );
    Ok(image)
}

fn append_segments(
    image: &mut Vec<u8>,
    file: &Elf<'_>,
    bytes: &[u8],
    segments: &mut [Segment; MAX_SEGMENTS],
) -> Result<u64> {
    let mut count = 0;
    for header in loads(file) {
        let address = header.p_vaddr(Endianness::Little);
        let memory_size = header.p_memsz(Endianness::Little);
        if memory_size == 0 {
            continue;
        }
        ensure!(
            address % PAGE_SIZE == 0,
            "a segment of the inner domain begins at {address:#x}, inside a page"
        );
        let Some(segment) = segments.get_mut(count) else {
            bail!("the inner domain has more than {MAX_SEGMENTS} load segments");
        };
        pad(image, PAGE_SIZE);
        let bytes = data(header, bytes)?;
        *segment = Segment {
            address,
            offset: image.len() as u64,
            file_size: bytes.len() as u64,
            memory_size,
            flags: u64::from(header.p_flags(Endianness::Little).0),
        };
        image.extend(bytes);
        count += 1;
    }
    ensure!(count > 0, "the inner domain has no load segment");
    Ok(count as u64)
}

type Header = elf::ProgramHeader64<Endianness>;

fn loads<'a>(file: &Elf<'a>) -> impl Iterator<Item = &'a Header> + use<'a> {
    let headers = file.elf_program_headers().iter();
    headers.filter(|it| it.p_type(Endianness::Little) == elf::PT_LOAD)
}

fn data<'a>(header: &Header, bytes: &'a [u8]) -> Result<&'a [u8]> {
    match header.data(Endianness::Little, bytes) {
        Ok(data) => Ok(data),
        Err(()) => bail!("a load segment lies outside its ELF file"),
    }
}

/// `image_size` of an arm64 `Image`.
fn image_size(image: &[u8]) -> Result<u64> {
    ensure!(
        image.get(IMAGE_MAGIC..IMAGE_MAGIC + 4) == Some(b"ARM\x64"),
        "not an arm64 Image"
    );
    let bytes = image
        .get(IMAGE_SIZE..IMAGE_SIZE + 8)
        .and_then(|it| it.try_into().ok());
    bytes
        .map(u64::from_le_bytes)
        .context("the Image ends in its header")
}

fn pad(image: &mut Vec<u8>, alignment: u64) {
    image.resize(image.len().next_multiple_of(alignment as usize), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn something_else_than_an_image_is_refused() {
        assert!(image_size(&[0; 64]).is_err());
        assert!(image_size(b"short").is_err());
    }
}
