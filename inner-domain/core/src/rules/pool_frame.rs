// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is kept about one frame of a table pool.

use super::pools::MAX_TABLE_BLOCKS;
use crate::address::ENTRIES;
use crate::frames::FrameType;

/// No root: kernel tables have none of their own.
pub(super) const NO_ROOT: u16 = u16::MAX;

// No pool frame has that number.
const _: () = assert!(MAX_TABLE_BLOCKS * ENTRIES <= NO_ROOT as usize);

/// Metadata of one pool frame.
///
/// Some of it outlives the frame's role as a table: where stale entries of the TLB may lead
/// to is a property of its past.
#[derive(Clone, Copy, Debug)]
pub struct PoolFrame {
    /// One bit per entry of a level 3 table: a valid entry was cleared here since the TLB was
    /// last known to hold nothing for its address.
    pub(super) stale: [u64; ENTRIES / 64],
    /// First virtual address that the table translates, or last did.
    pub(super) va: u64,
    /// Of a user root: how often all that the TLB may know of it has been dropped. Never set
    /// back; only equality counts, so that it may wrap.
    pub(super) flushes: u32,
    /// Of another table: `flushes` of its root when it was unlinked.
    pub(super) mark: u32,
    /// Index of the user root that the table belongs to, or last did.
    pub(super) root: u16,
    /// Valid table descriptors in it.
    pub(super) children: u16,
    /// Of a root: its ASID, or 0. Of a free frame: the epoch of its release.
    pub(super) asid_or_epoch: u16,
    /// The class of a free frame's last use; [`FrameType::PoolFree`] if there was none.
    pub(super) last: FrameType,
    /// Linked nowhere, though a table. Never set for a root.
    pub(super) detached: bool,
    /// Of a root: a table below it was unlinked since `flushes` changed. Tables that outlived
    /// a root may still set it when the frame has long become something else.
    pub(super) unflushed: bool,
}

const _: () = assert!(size_of::<PoolFrame>() <= 96);

impl PoolFrame {
    /// A frame that has never been a table.
    pub const NEW: Self = Self {
        stale: [0; ENTRIES / 64],
        va: 0,
        flushes: 0,
        mark: 0,
        root: NO_ROOT,
        children: 0,
        asid_or_epoch: 0,
        last: FrameType::PoolFree,
        detached: false,
        unflushed: false,
    };
}

impl PoolFrame {
    /// Forgets everything but `flushes`: marks of tables elsewhere may still refer to the root
    /// that was here.
    pub(super) fn renew(&mut self) {
        // Field by field, which takes half as long as a copy of a constant.
        self.stale.fill(0);
        self.va = 0;
        self.mark = 0;
        self.root = NO_ROOT;
        self.children = 0;
        self.asid_or_epoch = 0;
        self.last = FrameType::PoolFree;
        self.detached = false;
        self.unflushed = false;
    }

    /// Word and bit of an entry in `stale`.
    #[inline(always)]
    const fn place(index: usize) -> (usize, u64) {
        (index / 64 % (ENTRIES / 64), 1 << (index % 64))
    }

    /// Whether the TLB may hold something for the address of an invalid entry.
    #[inline(always)]
    pub(super) const fn is_stale(&self, index: usize) -> bool {
        let (word, bit) = Self::place(index);
        self.stale[word] & bit != 0
    }

    /// Notes that a valid entry was cleared.
    #[inline(always)]
    pub(super) const fn set_stale(&mut self, index: usize) {
        let (word, bit) = Self::place(index);
        self.stale[word] |= bit;
    }

    /// Notes that the TLB holds nothing for the entry.
    pub(super) const fn clear_stale(&mut self, index: usize) {
        let (word, bit) = Self::place(index);
        self.stale[word] &= !bit;
    }

    /// Whether no entry is stale.
    pub(super) fn is_quiet(&self) -> bool {
        self.stale.iter().fold(0, |all, word| all | word) == 0
    }
}

impl Default for PoolFrame {
    fn default() -> Self {
        Self::NEW
    }
}
