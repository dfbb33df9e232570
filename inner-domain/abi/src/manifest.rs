// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of contents of a boot image.
//!
//! The packer fills it in; it stands directly after the 64-byte arm64 `Image` header. Offsets
//! count from the first byte of the boot image, all numbers are little-endian.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::declare::numbers;

/// Offset of the [`Manifest`] in the boot image.
pub const MANIFEST_OFFSET: usize = 64;
/// Offset of the header by which UEFI starts the boot image: PE signature, file header, optional
/// header and two sections, behind the manifest.
pub const PE_OFFSET: usize = MANIFEST_OFFSET + size_of::<Manifest>();
/// Bytes that are kept free for it.
pub const PE_SIZE: usize = 0x108;
/// First word of a filled-in manifest: `DONJONMF`.
pub const MANIFEST_MAGIC: u64 = u64::from_le_bytes(*b"DONJONMF");
/// Version of this layout.
pub const MANIFEST_VERSION: u64 = 3;
/// Most load segments of the inner image.
pub const MAX_SEGMENTS: usize = 8;

numbers! {
    /// How the inner domain is entered and left.
    pub enum SwitchMode: u64 {
        /// One TCR write each way; the ASID flips with the range.
        Asid = 1,
        /// The ASID stays; the inner mappings are invalidated on the way out.
        Tlbi = 2,
        /// ASID and range in two steps each way.
        Strict = 3,
    }
}

impl SwitchMode {
    /// The name that commands and reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Asid => "asid",
            Self::Tlbi => "tlbi",
            Self::Strict => "strict",
        }
    }
}

numbers! {
    /// Whether Linux gets devices that can be told to access any memory.
    pub enum DmaProfile: u64 {
        /// Linux gets no device that can be told to access any memory.
        Strict = 1,
        /// Linux gets the DMA devices that it has a use for, and nothing stands between them and
        /// memory.
        Open = 2,
    }
}

impl DmaProfile {
    /// The name that commands and reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Open => "open",
        }
    }
}

numbers! {
    /// What the secrets of this boot come from.
    pub enum Identity: u64 {
        /// A random secret of this boot alone: the next boot has other secrets.
        None = 0,
        /// A secret that was given to the boot stage.
        Given = 1,
    }
}

numbers! {
    /// Where random numbers come from.
    pub enum Randomness: u64 {
        /// The machine has no source: no random numbers are given.
        None = 0,
        /// `/chosen/rng-seed` of the device tree.
        Tree = 1,
        /// The CPU's RNDR.
        Cpu = 2,
    }
}

/// One load segment of the inner image.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct Segment {
    /// Virtual address, page-aligned.
    pub address: u64,
    /// Where its bytes are in the boot image, page-aligned.
    pub offset: u64,
    /// Bytes in the boot image.
    pub file_size: u64,
    /// Bytes in memory; the rest is zero.
    pub memory_size: u64,
    /// ELF `p_flags`: 1 executable, 2 writable, 4 readable.
    pub flags: u64,
}

/// What the boot stage finds in its own image.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct Manifest {
    /// [`MANIFEST_MAGIC`].
    pub magic: u64,
    /// [`MANIFEST_VERSION`].
    pub version: u64,
    /// A [`SwitchMode`] word.
    pub switch_mode: u64,
    /// A [`DmaProfile`] word.
    pub dma_profile: u64,
    /// The Linux `Image`, aligned to 2 MiB.
    pub linux_offset: u64,
    /// Bytes of the Linux `Image` in the boot image: what is measured.
    pub linux_file_size: u64,
    /// Bytes that it needs from its first byte on, `image_size` of its header.
    pub linux_memory_size: u64,
    /// Offset of the 64 KiB table block from the start of Linux.
    pub linux_table_block: u64,
    /// Bytes from the start of Linux that its own text and constants take: what is behind is data,
    /// or memory that it frees. A multiple of 4 KiB.
    pub linux_read_only: u64,
    /// Bytes that are kept for compartments, where devices are kept from memory; 0 for a part of
    /// RAM.
    pub protected: u64,
    /// Virtual address of the inner domain's initialisation function.
    pub inner_init: u64,
    /// Used entries of `segments`.
    pub segment_count: u64,
    /// The inner image.
    pub segments: [Segment; MAX_SEGMENTS],
}

const _: () = {
    assert!(size_of::<Segment>() == 40);
    assert!(size_of::<Manifest>() == 96 + 40 * MAX_SEGMENTS);
    assert!(PE_OFFSET.is_multiple_of(8));
};
