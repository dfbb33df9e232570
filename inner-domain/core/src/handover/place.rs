// SPDX-License-Identifier: MIT OR Apache-2.0
//! The place of an entry, for errors.

use core::fmt;

/// One entry of a table, for messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntryPlace {
    /// First virtual address that it translates.
    pub va: u64,
    /// Physical address of the entry.
    pub entry: u64,
    /// Value of the entry.
    pub descriptor: u64,
}

impl fmt::Display for EntryPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            va,
            entry,
            descriptor,
        } = self;
        write!(f, "VA {va:#x}, entry {entry:#x}: {descriptor:#x}")
    }
}
