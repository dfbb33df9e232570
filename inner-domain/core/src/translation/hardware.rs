// SPDX-License-Identifier: MIT OR Apache-2.0
//! The steps of a change, and the trait that carries them out.

use donjon_abi::layout::PAGE_SIZE;

/// One step of a change. Steps of one change are carried out in the order in which they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Stores `value` at physical address `entry`, as one 8-byte store.
    Write {
        /// Physical address, a multiple of 8.
        entry: u64,
        /// The new descriptor.
        value: u64,
    },
    /// Fills a frame with zeros.
    ZeroFrame(u64),
    /// Fills groups of eight words of a frame with zeros; the rest of the frame is zero already.
    ZeroGroups {
        /// Physical address of the frame.
        frame: u64,
        /// A bit for each group that may be something else.
        groups: u64,
    },
    /// Writes a frame back to memory and drops it from the data caches (DC CIVAC): a table walk
    /// that does not look into the caches must not find what stood there before.
    CleanFrame(u64),
    /// Makes stores visible to table walks: DSB ISHST.
    BarrierStore,
    /// Waits for invalidations and stores on all CPUs: DSB ISH, ISB.
    Barrier,
    /// Drops the leaf of `va`, whatever its ASID: TLBI VAALE1IS.
    InvalidateLeaf {
        /// A virtual address.
        va: u64,
    },
    /// Drops the leaf of `va` under one ASID: TLBI VALE1IS.
    InvalidatePage {
        /// The ASID.
        asid: u16,
        /// A virtual address.
        va: u64,
    },
    /// Drops everything that a walk for `va` may have left, whatever its ASID: TLBI VAAE1IS.
    InvalidateTable {
        /// A virtual address.
        va: u64,
    },
    /// Drops everything of one ASID: TLBI ASIDE1IS.
    InvalidateAsid(u16),
    /// Drops everything: TLBI VMALLE1IS.
    InvalidateAll,
    /// Loads a user root, or the one that maps nothing, on this CPU: TTBR0_EL1, ISB.
    LoadRoot {
        /// Index of the CPU.
        cpu: usize,
        /// The value for TTBR0_EL1.
        ttbr0: u64,
    },
}

/// What carries out steps: the physical view and TLB instructions, or a model of them.
pub trait Hardware {
    /// The table entry at a physical address.
    fn read(&self, entry: u64) -> u64;
    /// Two neighbours, the lower one at a physical address; each is read once, as by
    /// [`read`](Self::read).
    #[inline(always)]
    fn read_two(&self, entry: u64) -> [u64; 2] {
        [self.read(entry), self.read(entry + 8)]
    }
    /// Carries out one step.
    fn perform(&mut self, step: Step);
    /// Fills `count` frames with zeros, the first one at physical address `first`, as by a
    /// [`Step::ZeroFrame`] for each.
    #[inline(always)]
    fn zero_frames(&mut self, first: u64, count: u64) {
        for index in 0..count {
            self.perform(Step::ZeroFrame(first + index * PAGE_SIZE));
        }
    }
}
