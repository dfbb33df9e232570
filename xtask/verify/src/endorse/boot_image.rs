// SPDX-License-Identifier: MIT OR Apache-2.0
//! The digest of what a boot image starts, from its file.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use donjon_abi::manifest::{
    DmaProfile, MANIFEST_MAGIC, MANIFEST_OFFSET, MANIFEST_VERSION, Manifest, Segment, SwitchMode,
};
use donjon_core::compartment::attestation::Start;
use sha2::{Digest, Sha256};
use zerocopy::FromBytes;

use crate::flow::read;

/// Most bytes of a boot image.
const MOST: u64 = 1 << 30;

/// Returns the digest that reports have of a boot image that starts with a command line.
///
/// # Errors
///
/// If the file cannot be read, or is no boot image.
pub fn started(path: &Path, command_line: &str) -> Result<[u8; 32]> {
    let bytes = read(path, MOST)?;
    digest(&bytes, command_line).with_context(|| {
        let name = path.display();
        format!("{name} is no boot image as `cargo xtask run` packs it")
    })
}

/// Returns the digest of an image's bytes.
fn digest(bytes: &[u8], command_line: &str) -> Result<[u8; 32]> {
    let manifest = bytes.get(MANIFEST_OFFSET..).unwrap_or_default();
    let manifest = Manifest::read_from_prefix(manifest).ok();
    let (manifest, _) = manifest.context("it is too short")?;
    ensure!(
        manifest.magic == MANIFEST_MAGIC,
        "its table of contents is not there"
    );
    ensure!(
        manifest.version == MANIFEST_VERSION,
        "its table of contents has version {}, and {MANIFEST_VERSION} is known",
        manifest.version
    );
    let count = usize::try_from(manifest.segment_count)?;
    let segments = manifest.segments.get(..count);
    let segments = segments.context("it has too many segments")?;
    let place = |offset: u64, size: u64| {
        let end = offset.checked_add(size)?;
        bytes.get(usize::try_from(offset).ok()?..usize::try_from(end).ok()?)
    };
    let within = |it: &Segment| Some((*it, place(it.offset, it.file_size)?));
    let segments: Option<Vec<_>> = segments.iter().map(within).collect();
    let linux = place(manifest.linux_offset, manifest.linux_file_size);
    let linux = Sha256::digest(linux.context("Linux ends behind its end")?);
    let (words, _) = linux.as_slice().as_chunks::<8>();
    let start = Start {
        switch_mode: SwitchMode::from_number(manifest.switch_mode)
            .context("its switch mode is not known")?,
        dma_profile: DmaProfile::from_number(manifest.dma_profile)
            .context("its DMA profile is not known")?,
        linux_read_only: manifest.linux_read_only,
        linux: std::array::from_fn(|it| u64::from_be_bytes(words[it])),
        command_line,
    };
    let segments = segments.context("a segment ends behind its end")?;
    Ok(start.digest(segments.into_iter()))
}

#[cfg(test)]
pub mod tests {
    use donjon_abi::manifest::MAX_SEGMENTS;
    use zerocopy::IntoBytes;

    use super::*;

    /// Returns a boot image with two segments and a Linux of a few bytes.
    pub fn image() -> Vec<u8> {
        let mut segments = [Segment::default(); MAX_SEGMENTS];
        segments[0] = Segment {
            address: 0xffff_0000,
            offset: 0x1000,
            file_size: 0x20,
            memory_size: 0x1000,
            flags: 5,
        };
        segments[1] = Segment {
            address: 0xffff_1000,
            offset: 0x2000,
            file_size: 0x10,
            memory_size: 0x3000,
            flags: 6,
        };
        let manifest = Manifest {
            magic: MANIFEST_MAGIC,
            version: MANIFEST_VERSION,
            switch_mode: SwitchMode::Strict as u64,
            dma_profile: DmaProfile::Open as u64,
            linux_offset: 0x3000,
            linux_file_size: 0x40,
            linux_memory_size: 0x1000,
            linux_table_block: 0,
            linux_read_only: 0x2_0000,
            protected: 0,
            inner_init: 0xffff_0000,
            segment_count: 2,
            segments,
        };
        let mut bytes: Vec<u8> = (0..0x3040_u32).map(|it| (it ^ it >> 8) as u8).collect();
        let manifest = manifest.as_bytes();
        bytes[MANIFEST_OFFSET..MANIFEST_OFFSET + manifest.len()].copy_from_slice(manifest);
        bytes
    }

    fn of(bytes: &[u8]) -> [u8; 32] {
        digest(bytes, "quiet").expect("an image")
    }

    /// The docs list what the digest is of; here they are written out once more.
    #[test]
    fn the_digest_is_of_the_parts_that_are_started() {
        let bytes = image();
        let mut hash = Sha256::new();
        for word in [3_u64, 2, 0x2_0000, 0xffff_0000, 0x1000, 5, 0x20] {
            hash.update(word.to_le_bytes());
        }
        hash.update(&bytes[0x1000..0x1020]);
        for word in [0xffff_1000_u64, 0x3000, 6, 0x10] {
            hash.update(word.to_le_bytes());
        }
        hash.update(&bytes[0x2000..0x2010]);
        hash.update(Sha256::digest(&bytes[0x3000..0x3040]));
        hash.update(b"quiet");
        assert_eq!(of(&bytes)[..], hash.finalize()[..]);
    }

    #[test]
    fn each_byte_that_is_started_counts_and_no_other_one() {
        let right = image();
        for (at, counts) in [
            (0, false),
            (0xfff, false),
            (0x1000, true),
            (0x101f, true),
            (0x1020, false),
            (0x2000, true),
            (0x200f, true),
            (0x2010, false),
            (0x3000, true),
            (0x303f, true),
        ] {
            let mut changed = right.clone();
            changed[at] ^= 1;
            assert_eq!(of(&changed) != of(&right), counts, "{at:#x}");
        }
        assert_ne!(of(&right), digest(&right, "quiet ").expect("an image"));
    }

    #[test]
    fn what_is_no_boot_image_is_refused() {
        let right = image();
        for (at, words) in [
            (MANIFEST_OFFSET, "not there"),
            (MANIFEST_OFFSET + 8, "version"),
            (MANIFEST_OFFSET + 16, "switch mode"),
            (MANIFEST_OFFSET + 24, "DMA profile"),
            (MANIFEST_OFFSET + 38, "Linux ends"),
            (MANIFEST_OFFSET + 46, "Linux ends"),
            (MANIFEST_OFFSET + 88, "too many segments"),
            (MANIFEST_OFFSET + 96 + 8 + 7, "a segment ends"),
            (MANIFEST_OFFSET + 96 + 16 + 6, "a segment ends"),
        ] {
            let mut changed = right.clone();
            changed[at] = 0xee;
            let trouble = digest(&changed, "").expect_err("no image").to_string();
            assert!(trouble.contains(words), "{at}: {trouble}");
        }
        for length in 0..right.len() {
            digest(&right[..length], "").expect_err("it is cut off");
        }
    }
}
