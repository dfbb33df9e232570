// SPDX-License-Identifier: MIT OR Apache-2.0
//! The physical memory of a stopped machine.

use std::ops::Range;

use super::descriptor::{ENTRIES, PAGE};

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
