// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages that follow each other and have the same access.

use std::ops::Range;

use crate::PAGE;

/// How a page of a compartment is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Access {
    /// Constants.
    Read = 0,
    /// Data.
    Write = 1,
    /// Code.
    Execute = 2,
}

/// A page of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Address of the page in the compartment.
    pub va: u64,
    /// How it is mapped.
    pub access: Access,
    /// What is in it.
    pub bytes: [u8; PAGE as usize],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment<'a> {
    pub va: u64,
    pub access: Access,
    pub pages: u64,
    /// The beginning; zeros follow.
    pub bytes: &'a [u8],
}

impl Segment<'_> {
    pub fn range(&self) -> Range<u64> {
        self.va..self.va + self.pages * PAGE
    }

    pub fn pages(&self) -> impl Iterator<Item = Page> {
        let given = self.bytes.chunks(PAGE as usize);
        let zeros = std::iter::repeat(&[][..]);
        self.range()
            .step_by(PAGE as usize)
            .zip(given.chain(zeros))
            .map(|(va, given)| {
                let mut bytes = [0; PAGE as usize];
                bytes[..given.len()].copy_from_slice(given);
                let access = self.access;
                Page { va, access, bytes }
            })
    }
}

/// Tables of the three levels below the root that map `ranges`: sorted, apart, none empty.
pub(crate) fn tables(ranges: impl Iterator<Item = Range<u64>> + Clone) -> u64 {
    /// What a table of each level maps, as a power of two.
    const LEVELS: [u32; 3] = [39, 30, 21];
    let count = |level: u32| {
        let mut next = 0;
        let mut count = 0;
        for range in ranges.clone() {
            let first = (range.start >> level).max(next);
            next = ((range.end - 1) >> level) + 1;
            count += next - first;
        }
        count
    };
    LEVELS.into_iter().map(count).sum()
}
