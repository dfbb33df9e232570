// SPDX-License-Identifier: MIT OR Apache-2.0
//! Invalidations, each with the barriers that make it complete.
//!
//! The stores before are made visible to walks first, or a walk could bring back what is being
//! dropped; the barrier behind makes the invalidation complete on all CPUs before anything is
//! built on it (Arm DDI 0487, D8.17).

use super::Rules;
use super::checks::Checks;
use super::step::{Hardware, Step};

/// Distance between the two addresses at which the wide view shows a kernel page.
const ALIAS: u64 = 1 << 47;

/// Drops what the TLB holds for one page of a level 3 table.
pub(super) fn leaf<H: Hardware>(hw: &mut H, va: u64, user: bool) {
    hw.perform(Step::BarrierStore);
    hw.perform(Step::InvalidateLeaf { va });
    if !user {
        let va = va.wrapping_sub(ALIAS);
        hw.perform(Step::InvalidateLeaf { va });
    }
    hw.perform(Step::Barrier);
}

/// Drops what the TLB holds for one block of a kernel table. By address this takes all pieces
/// into which the TLB may have cut the block (D8.16, R_TVTYQ).
pub(super) fn block<H: Hardware>(hw: &mut H, va: u64) {
    hw.perform(Step::BarrierStore);
    hw.perform(Step::InvalidateTable { va });
    let va = va.wrapping_sub(ALIAS);
    hw.perform(Step::InvalidateTable { va });
    hw.perform(Step::Barrier);
}

/// Drops what the TLB holds for one ASID.
fn asid<H: Hardware>(hw: &mut H, asid: u16) {
    hw.perform(Step::BarrierStore);
    hw.perform(Step::InvalidateAsid(asid));
    hw.perform(Step::Barrier);
}

impl<C: Checks> Rules<'_, C> {
    /// Drops everything that any TLB holds.
    pub(super) fn flush_all<H: Hardware>(&mut self, hw: &mut H) {
        hw.perform(Step::BarrierStore);
        hw.perform(Step::InvalidateAll);
        hw.perform(Step::Barrier);
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// Drops everything that the TLB holds for a user root. What is left under an ASID that the
    /// root had earlier is dropped before anybody gets that ASID.
    pub(super) fn flush_root<H: Hardware>(&mut self, hw: &mut H, root: usize) {
        let number = self.pool[root].asid_or_epoch;
        if number != 0 {
            asid(hw, number);
        }
        self.forget_root(root);
    }

    /// Makes an ASID new: nothing is left of it in any TLB.
    pub(super) fn flush_asid<H: Hardware>(&mut self, hw: &mut H, number: u16) {
        asid(hw, number);
    }

    /// Notes that nothing that the TLB knows of a user root can be used any more.
    pub(super) fn forget_root(&mut self, root: usize) {
        let root = &mut self.pool[root];
        root.flushes = root.flushes.wrapping_add(1);
        root.unflushed = false;
    }
}
