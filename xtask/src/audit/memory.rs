// SPDX-License-Identifier: MIT OR Apache-2.0
//! The physical memory of a stopped machine.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use anyhow::{Context, Result};

use super::descriptor::{ENTRIES, PAGE};
use crate::qemu::{monitor, scratch::Scratch};

use std::path::Path;

/// The words of one page.
pub type Words = [u64; ENTRIES as usize];

/// Something that pages can be read from.
pub trait Memory {
    /// The page that begins at `address`; none where no RAM is.
    fn page(&self, address: u64) -> Option<Box<Words>>;

    /// One word, at a multiple of 8.
    fn word(&self, address: u64) -> Option<u64> {
        let page = self.page(address & !(PAGE - 1))?;
        page.get((address % PAGE / 8) as usize).copied()
    }

    /// The words of all pages that begin in `range`, those that are no RAM left out.
    fn words(&self, range: &Range<u64>) -> Vec<u64> {
        let pages = range.clone().step_by(PAGE as usize);
        let pages = pages.filter_map(|it| self.page(it));
        pages.flat_map(|it| it.to_vec()).collect()
    }
}

/// A copy of all RAM in files, one for each bank.
pub struct Copied {
    banks: Vec<(Range<u64>, File)>,
    _files: Scratch,
}

impl Copied {
    /// Copies `banks` out of the machine behind `monitor`, which must be stopped.
    pub fn from_machine(monitor: &Path, banks: &[Range<u64>]) -> Result<Self> {
        let files = Scratch::new()?;
        let copy = |(number, bank): (usize, &Range<u64>)| {
            let path = files.join(format!("bank{number}"));
            monitor::save_memory(monitor, bank.start, bank.end - bank.start, &path)?;
            let file = File::open(&path).context("reading the copy of the guest's memory")?;
            anyhow::Ok((bank.clone(), file))
        };
        let banks = banks.iter().enumerate().map(copy).collect::<Result<_>>()?;
        Ok(Self {
            banks,
            _files: files,
        })
    }
}

impl Memory for Copied {
    fn page(&self, address: u64) -> Option<Box<Words>> {
        let (bank, file) = self.banks.iter().find(|(it, _)| it.contains(&address))?;
        let mut bytes = vec![0; PAGE as usize];
        file.read_exact_at(&mut bytes, address - bank.start).ok()?;
        let mut words = Box::new([0; ENTRIES as usize]);
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().ok()?);
        }
        Some(words)
    }
}
