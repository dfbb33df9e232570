// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads the boot image: its manifest and its parts.

use donjon_abi::layout::{BLOCK_SIZE, TABLE_BLOCK_SIZE};
use donjon_abi::manifest::{
    DmaProfile, MANIFEST_MAGIC, MANIFEST_VERSION, Manifest, Segment, SwitchMode,
};
use donjon_core::range::Range;

use crate::assembly::{boot_manifest, boot_stay_end, boot_stay_start};
use crate::failure::Failure;

/// The boot image at its place in memory.
pub struct Image {
    start: u64,
    manifest: Manifest,
    /// How the inner domain is entered and left.
    pub switch_mode: SwitchMode,
    /// Whether Linux gets devices with DMA.
    pub dma_profile: DmaProfile,
}

impl Image {
    /// The image that this code runs from.
    pub fn at(start: u64) -> Result<Self, Failure> {
        let image = Self::loaded_at(start)?;
        if !start.is_multiple_of(BLOCK_SIZE) {
            return Err(Failure::Misaligned(start));
        }
        Ok(image)
    }

    /// The image that a loader of UEFI put at any page.
    pub fn loaded_at(start: u64) -> Result<Self, Failure> {
        // SAFETY: a static of plain words in our own image, written before it was started.
        let manifest = unsafe { (&raw const boot_manifest).read_volatile() };
        let switch_mode = SwitchMode::from_number(manifest.switch_mode);
        let dma_profile = DmaProfile::from_number(manifest.dma_profile);
        match switch_mode.zip(dma_profile) {
            Some((switch_mode, dma_profile))
                if manifest.magic == MANIFEST_MAGIC && manifest.version == MANIFEST_VERSION =>
            {
                Ok(Self {
                    start,
                    manifest,
                    switch_mode,
                    dma_profile,
                })
            }
            _ => Err(Failure::NotPacked),
        }
    }

    /// Everything: boot stage, inner image, Linux with the memory behind it that it needs.
    pub fn whole(&self) -> Result<Range, Failure> {
        let end = self.linux() + self.manifest.linux_memory_size;
        Range::new(self.start, end).ok_or(Failure::Address(end))
    }

    /// Bytes of the file: the rest of the whole is zero or has no content.
    pub fn file_size(&self) -> u64 {
        self.manifest.linux_offset + self.manifest.linux_file_size
    }

    /// Physical address of Linux.
    pub fn linux(&self) -> u64 {
        self.start + self.manifest.linux_offset
    }

    /// Linux as it will be started, before we write its table block.
    pub fn linux_bytes(&self) -> &'static [u8] {
        // SAFETY: the loader put these bytes there and nothing writes them while we read.
        unsafe {
            core::slice::from_raw_parts(
                self.linux() as *const u8,
                self.manifest.linux_file_size as usize,
            )
        }
    }

    /// Physical address of the 64 KiB block in Linux that holds the root table.
    pub fn table_block(&self) -> Result<u64, Failure> {
        let block = self.linux() + self.manifest.linux_table_block;
        if self.manifest.linux_table_block == 0 || !block.is_multiple_of(TABLE_BLOCK_SIZE) {
            return Err(Failure::Address(block));
        }
        Ok(block)
    }

    /// Linux's own text and constants, which devices may read.
    pub fn linux_read_only(&self) -> Option<Range> {
        Range::with_size(self.linux(), self.manifest.linux_read_only)
    }

    /// Bytes that are kept for compartments where devices are kept from memory, if the image says.
    pub fn protected(&self) -> Option<u64> {
        Some(self.manifest.protected).filter(|it| *it != 0)
    }

    /// Virtual address of the inner domain's initialisation.
    pub fn inner_init(&self) -> u64 {
        self.manifest.inner_init
    }

    /// The inner image's segments, each with the bytes that it starts with.
    pub fn segments(&self) -> impl Iterator<Item = (Segment, &'static [u8])> {
        let count = self.manifest.segment_count as usize;
        let start = self.start;
        self.manifest
            .segments
            .into_iter()
            .take(count)
            .map(move |segment| {
                // SAFETY: the packer put these bytes into the image; nothing writes them.
                let bytes = unsafe {
                    core::slice::from_raw_parts(
                        (start + segment.offset) as *const u8,
                        segment.file_size as usize,
                    )
                };
                (segment, bytes)
            })
    }

    /// The page that CPUs enter and that EL2 is left with: Linux must not have it.
    pub fn stays(&self) -> Result<Range, Failure> {
        let start = (&raw const boot_stay_start) as u64;
        let end = (&raw const boot_stay_end) as u64;
        Range::new(start, end).ok_or(Failure::Address(start))
    }
}
