// SPDX-License-Identifier: MIT OR Apache-2.0
//! The expected contents of memory, from the boot image and the ELF files on the host.

use std::fs;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use donjon_abi::boot_info::Arrival;
use donjon_abi::manifest::{DmaProfile, MANIFEST_MAGIC, MANIFEST_OFFSET, Manifest, SwitchMode};
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection, ObjectSegment};
use zerocopy::FromBytes;

use super::descriptor::PAGE;
use super::linux::addresses;

/// R_AARCH64_RELATIVE, the only kind in the boot stage (ELF for the Arm 64-bit Architecture).
const RELATIVE: u64 = 1027;
/// Bytes of an entry of `.rela.dyn`.
const RELA: usize = 24;
/// Flag of `p_flags`: the segment is writable.
const WRITABLE: u64 = 2;

/// Bytes of a vector table (DDI 0487, D1.3.1.2).
pub(crate) const VECTORS_SIZE: u64 = 0x800;

/// Memory of the inner domain that never changes.
#[derive(Clone, Debug, Default)]
pub struct Constant {
    /// Virtual address in the inner view.
    pub address: u64,
    /// What stands there, whole pages.
    pub bytes: Vec<u8>,
}

/// What the boot image says about memory.
#[derive(Clone, Debug, Default)]
pub struct Image {
    /// Offset of Linux in the boot image.
    pub linux: u64,
    /// Text and constants of the inner domain, the gate page included.
    pub constants: Vec<Constant>,
    /// Whether the gate page has a list of addresses to invalidate.
    pub has_list: bool,
    /// Whether Linux gets devices with DMA.
    pub dma: bool,
    /// Where `donjon_arrive` is, a virtual address.
    pub entry: u64,
    /// Code that enters compartments and leaves them, with their vectors; virtual addresses.
    pub context: Range<u64>,
    /// The boot stage's page that stays, linked at address 0.
    pub stay: Stay,
}

/// The boot stage's page that stays. All numbers but the bytes are offsets in the boot image.
#[derive(Clone, Debug, Default)]
pub struct Stay {
    /// Where it is.
    pub place: Range<u64>,
    /// What stands there before it is relocated.
    pub bytes: Vec<u8>,
    /// Words of it to which the load address is added.
    pub relocated: Vec<(u64, u64)>,
    /// The data of CPUs that arrive, which the boot stage fills in.
    pub arrival: Range<u64>,
    /// Vectors of EL2.
    pub el2_vectors: u64,
}

impl Image {
    /// Reads the boot image `image`, packed from the ELF files `inner` and `boot`.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or is not what it should be.
    pub fn read(image: &Path, inner: &Path, boot: &Path) -> Result<Self> {
        let bytes = fs::read(image).with_context(|| format!("reading {}", image.display()))?;
        let manifest = bytes.get(MANIFEST_OFFSET..).unwrap_or_default();
        let Ok((manifest, _)) = Manifest::read_from_prefix(manifest) else {
            bail!("{} is cut off", image.display());
        };
        ensure!(
            manifest.magic == MANIFEST_MAGIC,
            "{} is no boot image",
            image.display()
        );
        let mut constants = Vec::new();
        let segments = manifest.segments.get(..manifest.segment_count as usize);
        for segment in segments.context("the boot image has too many segments")? {
            if segment.flags & WRITABLE != 0 {
                continue;
            }
            let start = segment.offset as usize;
            let end = start + segment.file_size as usize;
            let mut contents = bytes
                .get(start..end)
                .context("a segment lies outside the boot image")?
                .to_vec();
            let size = segment.memory_size.next_multiple_of(PAGE);
            contents.resize(size as usize, 0);
            constants.push(Constant {
                address: segment.address,
                bytes: contents,
            });
        }
        let address = addresses(inner)?;
        let vectors = address("donjon_context_vectors")?;
        Ok(Self {
            linux: manifest.linux_offset,
            constants,
            dma: manifest.dma_profile == DmaProfile::Open as u64,
            has_list: manifest.switch_mode == SwitchMode::Tlbi as u64,
            entry: address("donjon_arrive")?,
            context: address("donjon_context_run")?..vectors + VECTORS_SIZE,
            stay: Stay::read(boot)?,
        })
    }
}

impl Stay {
    fn read(boot: &Path) -> Result<Self> {
        let address = addresses(boot)?;
        let place = address("boot_stay_start")?..address("boot_stay_end")?;
        let arrival = address("boot_arrival")?;
        let bytes = fs::read(boot).with_context(|| format!("reading {}", boot.display()))?;
        let file: ElfFile64<'_, Endianness> = ElfFile64::parse(&*bytes)?;
        let segment = file
            .segments()
            .find(|it| (it.address()..it.address() + it.size()).contains(&place.start))
            .context("the boot stage has no page that stays")?;
        let start = (place.start - segment.address()) as usize;
        let size = (place.end - place.start) as usize;
        let contents = segment.data()?.get(start..start + size);
        let relocations = file.section_by_name(".rela.dyn");
        let relocations = relocations.map(|it| it.data()).transpose()?;
        let relocated = relocations
            .unwrap_or_default()
            .chunks_exact(RELA)
            .map(|it| {
                let words = it.as_chunks::<8>().0;
                [0, 1, 2].map(|number| u64::from_le_bytes(words[number]))
            })
            .filter(|[_, kind, _]| kind & 0xffff_ffff == RELATIVE)
            .map(|[at, _, addend]| (at, addend))
            .filter(|(at, _)| place.contains(at))
            .collect();
        Ok(Self {
            bytes: contents.context("the page that stays is cut off")?.to_vec(),
            relocated,
            arrival: arrival..arrival + size_of::<Arrival>() as u64,
            el2_vectors: address("boot_el2_vectors")?,
            place,
        })
    }

    /// What stands in memory when the boot image is loaded at `loaded`.
    pub fn at(&self, loaded: u64) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        for (at, addend) in &self.relocated {
            let from = (at - self.place.start) as usize;
            if let Some(word) = bytes.get_mut(from..from + 8) {
                word.copy_from_slice(&(loaded + addend).to_le_bytes());
            }
        }
        bytes
    }
}
