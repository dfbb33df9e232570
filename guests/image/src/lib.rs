// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file that a compartment is made from: a static ELF program with a note. docs/compartments.md
//! has the format.

mod error;
mod note;
mod parse;
mod segment;
#[cfg(test)]
mod tests;

use sha2::{Digest, Sha256};

pub use donjon_compartment_protocol::{SHARED, SHARED_MAX};
pub use error::Error;
pub use segment::{Access, Page};

use segment::{Segment, tables};

/// Bytes of a page.
pub const PAGE: u64 = 4096;

/// An image. Nothing in it is copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image<'a> {
    segments: Vec<Segment<'a>>,
    /// Address of the first instruction of each call.
    pub entry: u64,
    /// End of the stack.
    pub stack: u64,
    /// Bytes of the stack.
    pub stack_size: u64,
    /// Frames that the compartment may have, its tables included.
    pub limit: u64,
    /// Pages that it shares with its host, from [`SHARED`] on.
    pub shared_pages: u64,
}

impl<'a> Image<'a> {
    /// Reads the ELF file of a compartment.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        parse::parse(bytes)
    }

    /// All pages, in the order in which they are added and measured: by address.
    pub fn pages(&self) -> impl Iterator<Item = Page> {
        self.segments.iter().flat_map(Segment::pages)
    }

    /// How many pages it has of one kind.
    pub fn count(&self, access: Access) -> u64 {
        let of_this = self.segments.iter().filter(|it| it.access == access);
        of_this.map(|it| it.pages).sum()
    }

    /// Frames that the compartment has before its first call, its tables included.
    pub fn frames(&self) -> u64 {
        /// The root of its tables, and one for its registers.
        const FIXED: u64 = 2;
        let pages: u64 = self.segments.iter().map(|it| it.pages).sum();
        let shared = SHARED..SHARED + self.shared_pages * PAGE;
        let ranges = self.segments.iter().map(Segment::range).chain([shared]);
        FIXED + pages + tables(ranges.filter(|it| !it.is_empty()))
    }

    /// What the inner domain says that the compartment began with.
    pub fn measurement(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        for page in self.pages() {
            hash.update(page.va.to_le_bytes());
            hash.update((page.access as u64).to_le_bytes());
            hash.update(page.bytes);
        }
        for word in [self.entry, self.stack, self.limit] {
            hash.update(word.to_le_bytes());
        }
        hash.finalize().into()
    }
}

/// A measurement as it is written: 64 digits.
pub fn hexadecimal(measurement: &[u8; 32]) -> String {
    measurement.iter().map(|it| format!("{it:02x}")).collect()
}
