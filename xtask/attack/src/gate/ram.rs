// SPDX-License-Identifier: MIT OR Apache-2.0
//! The guest's memory, a file of the host, and its state at the start of each run.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use donjon_models::geometry::forged::{
    Geometry, Granule, PhysicalMemory, Probe, TableRead, WalkResult, walk,
};

/// Where RAM of QEMU's `virt` begins.
pub const BASE: u64 = 0x4000_0000;
/// Bytes of it.
pub const SIZE: u64 = 256 << 20;
const PAGE: usize = 4096;

/// A copy of all memory.
pub struct Copy(Vec<u8>);

impl Copy {
    /// The 8-byte word at a physical address.
    pub fn word(&self, address: u64) -> Option<u64> {
        let at = usize::try_from(address.checked_sub(BASE)?).ok()?;
        let bytes = self.0.get(at..at.checked_add(8)?)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    }

    /// The 4-byte words of a frame.
    pub fn frame(&self, frame: u64) -> Option<Vec<u32>> {
        let at = usize::try_from(frame.checked_sub(BASE)?).ok()?;
        let (words, _) = self.0.get(at..at + PAGE)?.as_chunks::<4>();
        Some(words.iter().map(|it| u32::from_le_bytes(*it)).collect())
    }

    /// Writes bytes.
    pub fn put(&mut self, address: u64, bytes: &[u8]) -> Result<()> {
        let at = usize::try_from(address - BASE)?;
        let place = self.0.get_mut(at..at + bytes.len()).context("not in RAM")?;
        place.copy_from_slice(bytes);
        Ok(())
    }

    /// Where an address of the upper range leads with 4 KiB tables and a range of `64 -
    /// size_offset` bits, and whether EL1 may execute there as far as the leaf says.
    pub fn walk(&self, root: u64, size_offset: u64, address: u64) -> Option<(u64, bool)> {
        let geometry = Geometry {
            granule: Granule::Kib4,
            size_offset: size_offset as u8,
            large_addresses: false,
            corruption: None,
        };
        let probe = Probe {
            address,
            expected: 0,
        };
        match walk(self, root, geometry, probe) {
            WalkResult::Itself { address } | WalkResult::Escape { address } => {
                Some((address, true))
            }
            WalkResult::NotExecutable { address } => Some((address, false)),
            WalkResult::Fault(_) | WalkResult::HostileTable { .. } => None,
        }
    }
}

impl PhysicalMemory for Copy {
    fn read(&self, address: u64) -> Option<u64> {
        self.word(address)
    }

    fn is_hostile(&self, _: TableRead) -> bool {
        false
    }
}

/// The memory itself.
pub struct Ram {
    file: File,
    /// Memory at the start of each run.
    pub start: Copy,
    /// Pages that a run or the restoring of the machine may change, from the start of RAM.
    dirty: BTreeSet<usize>,
}

impl Ram {
    /// Makes the file, for a machine to use.
    pub fn create(path: &Path) -> Result<()> {
        File::create(path)?.set_len(SIZE).context("room for RAM")
    }

    /// Opens the memory of a machine that stands still.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::options().read(true).write(true).open(path)?;
        let start = Copy(now(&file)?);
        Ok(Self {
            file,
            start,
            dirty: BTreeSet::new(),
        })
    }

    /// Writes the copy over the whole memory.
    pub fn write_all(&self) -> Result<()> {
        Ok(self.file.write_all_at(&self.start.0, 0)?)
    }

    /// Puts back what is known to change.
    pub fn restore(&self) -> Result<()> {
        let mut pages = self.dirty.iter().copied().peekable();
        while let Some(first) = pages.next() {
            let mut end = first + 1;
            while pages.next_if_eq(&end).is_some() {
                end += 1;
            }
            let bytes = &self.start.0[first * PAGE..end * PAGE];
            self.file.write_all_at(bytes, (first * PAGE) as u64)?;
        }
        Ok(())
    }

    /// Compares all memory with the copy, notes each page that differs as one that changes, and
    /// puts it back. Returns the addresses of those that were new.
    pub fn compare(&mut self) -> Result<Vec<u64>> {
        let now = now(&self.file)?;
        ensure!(now.len() == self.start.0.len(), "RAM changed its size");
        let (pages, _) = now.as_chunks::<PAGE>();
        let (start, _) = self.start.0.as_chunks::<PAGE>();
        let mut found = Vec::new();
        for (number, (page, start)) in pages.iter().zip(start).enumerate() {
            if page != start {
                self.file.write_all_at(start, (number * PAGE) as u64)?;
                if self.dirty.insert(number) {
                    found.push(BASE + (number * PAGE) as u64);
                }
            }
        }
        Ok(found)
    }
}

fn now(file: &File) -> Result<Vec<u8>> {
    let mut bytes = vec![0; SIZE as usize];
    file.read_exact_at(&mut bytes, 0).context("reading RAM")?;
    Ok(bytes)
}
