// SPDX-License-Identifier: MIT OR Apache-2.0
//! The metadata of one frame of a table pool.

use crate::translation::address::{ENTRIES, VirtualAddress};

/// Metadata of one pool frame. It means something while the frame is a table.
#[derive(Clone, Copy, Debug)]
pub struct PoolFrame {
    /// One bit per entry of a level 3 table: a valid entry was cleared here since the TLB was
    /// last known to hold nothing for its address.
    stale: [u64; ENTRIES / 64],
    /// First virtual address that the table translates.
    pub(super) va: VirtualAddress,
    /// Valid table descriptors in it.
    pub(super) children: u16,
    /// Linked nowhere.
    pub(super) detached: bool,
}

const _: () = assert!(size_of::<PoolFrame>() <= 80);

impl PoolFrame {
    /// A frame that is no table.
    pub const NEW: Self = Self::at(VirtualAddress::NONE);

    /// A table for the addresses from `va` on, that no TLB holds anything of.
    pub(super) const fn at(va: VirtualAddress) -> Self {
        Self {
            stale: [0; ENTRIES / 64],
            va,
            children: 0,
            detached: false,
        }
    }

    /// Word and bit of an entry in `stale`.
    const fn place(index: usize) -> (usize, u64) {
        (index / 64 % (ENTRIES / 64), 1 << (index % 64))
    }

    /// Whether the TLB may hold something for the address of an invalid entry.
    pub(super) const fn is_stale(&self, index: usize) -> bool {
        let (word, bit) = Self::place(index);
        self.stale[word] & bit != 0
    }

    /// Notes that a valid entry was cleared.
    pub(super) const fn set_stale(&mut self, index: usize) {
        let (word, bit) = Self::place(index);
        self.stale[word] |= bit;
    }

    /// Notes that the TLB holds nothing for the entry.
    pub(super) const fn clear_stale(&mut self, index: usize) {
        let (word, bit) = Self::place(index);
        self.stale[word] &= !bit;
    }
}

impl Default for PoolFrame {
    fn default() -> Self {
        Self::NEW
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_entry_is_stale_on_its_own() {
        let mut frame = PoolFrame::NEW;
        for index in 0..ENTRIES {
            frame.set_stale(index);
            let stale = (0..ENTRIES).filter(|it| frame.is_stale(*it));
            assert!(stale.eq([index]));
            frame.clear_stale(index);
            assert_eq!(frame.stale, [0; ENTRIES / 64]);
        }
    }
}
