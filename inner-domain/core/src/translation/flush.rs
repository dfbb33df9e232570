// SPDX-License-Identifier: MIT OR Apache-2.0
//! TLB invalidations, each with the barriers that complete it.
//!
//! The stores before are made visible to walks first, or a walk could bring back what is being
//! dropped; the barrier behind makes the invalidation complete on all CPUs before anything is
//! built on it (Arm DDI 0487, D8.17).

use super::address::VirtualAddress;
use super::{Hardware, Step};

/// Distance between the two addresses at which the wide view shows a kernel page.
const ALIAS: u64 = 1 << 47;

/// Drops what the TLB holds for one page of the kernel.
pub(crate) fn leaf<H: Hardware>(hw: &mut H, va: VirtualAddress) {
    let va = va.as_u64();
    hw.perform(Step::BarrierStore);
    hw.perform(Step::InvalidateLeaf { va });
    let va = va.wrapping_sub(ALIAS);
    hw.perform(Step::InvalidateLeaf { va });
    hw.perform(Step::Barrier);
}

/// Drops what the TLB holds for one block of the kernel. By address this takes all pieces
/// into which the TLB may have cut the block (D8.16, R_TVTYQ).
pub(crate) fn block<H: Hardware>(hw: &mut H, va: VirtualAddress) {
    let va = va.as_u64();
    hw.perform(Step::BarrierStore);
    hw.perform(Step::InvalidateTable { va });
    let va = va.wrapping_sub(ALIAS);
    hw.perform(Step::InvalidateTable { va });
    hw.perform(Step::Barrier);
}

/// Drops what the TLB holds for one ASID.
pub(crate) fn asid<H: Hardware>(hw: &mut H, asid: u16) {
    hw.perform(Step::BarrierStore);
    hw.perform(Step::InvalidateAsid(asid));
    hw.perform(Step::Barrier);
}

/// Drops everything that any TLB holds.
pub(crate) fn everything<H: Hardware>(hw: &mut H) {
    hw.perform(Step::BarrierStore);
    hw.perform(Step::InvalidateAll);
    hw.perform(Step::Barrier);
}
