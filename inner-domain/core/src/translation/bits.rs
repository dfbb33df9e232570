// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bits of a descriptor as the rules look at them: sets of bits that are tested at once.

use crate::translation::descriptor::Attributes;

/// Bit 0.
pub(crate) const VALID: u64 = 1;
/// Bits 1 and 0 of a table, or of a page at level 3.
pub(crate) const TABLE: u64 = 0b11;
/// Output address within the 40 bits that TCR_EL1.IPS admits.
pub(crate) const OUTPUT_ADDRESS: u64 = 0x00ff_ffff_f000;
/// AttrIndx.
pub(crate) const INDEX: u64 = 0b111 << 2;
/// SH.
pub(crate) const SHAREABILITY: u64 = 0b11 << 8;
/// AP\[1\]: EL0 may access.
pub(crate) const EL0: u64 = Attributes::EL0.bits();
/// AP\[2\]: read-only.
pub(crate) const READ_ONLY: u64 = Attributes::READ_ONLY.bits();
/// AF.
pub(crate) const ACCESSED: u64 = Attributes::ACCESSED.bits();
/// nG.
pub(crate) const NON_GLOBAL: u64 = Attributes::NON_GLOBAL.bits();
/// GP: branch targets are checked.
pub(crate) const GUARDED: u64 = 1 << 50;
/// DBM.
pub(crate) const DIRTY_BIT_MODIFIER: u64 = Attributes::DIRTY_BIT_MODIFIER.bits();
/// Contiguous.
pub(crate) const CONTIGUOUS: u64 = Attributes::CONTIGUOUS.bits();
/// PXN.
pub(crate) const NO_EL1: u64 = Attributes::PRIVILEGED_EXECUTE_NEVER.bits();
/// UXN.
pub(crate) const NO_EL0: u64 = Attributes::UNPRIVILEGED_EXECUTE_NEVER.bits();
/// Ignored by hardware, used by Linux.
pub(crate) const SOFTWARE: u64 = 0b1111 << 55;

/// What a page's descriptor may have. Not in it: NS, address bits 47 to 40, the reserved bits 48
/// and 49, contiguous, bits 59 to 63.
pub(crate) const OF_PAGE: u64 = TABLE
    | OUTPUT_ADDRESS
    | INDEX
    | SHAREABILITY
    | EL0
    | READ_ONLY
    | ACCESSED
    | NON_GLOBAL
    | GUARDED
    | DIRTY_BIT_MODIFIER
    | NO_EL1
    | NO_EL0
    | SOFTWARE;

/// What a table descriptor may have: besides the address UXNTable and PXNTable, which only take
/// away, and AF.
pub(crate) const OF_TABLE: u64 = TABLE | OUTPUT_ADDRESS | ACCESSED | 1 << 59 | 1 << 60;

/// PXNTable: nothing below is executable at EL1.
pub(crate) const NO_EL1_BELOW: u64 = 1 << 59;

/// What may change in a valid leaf without its being invalid in between: permissions of EL0 and
/// of writes, and what hardware ignores. Arm DDI 0487, D8.17.1 asks for break-before-make for
/// address, size, memory type and nG; PXN is left out because no leaf becomes or ceases to be
/// executable at EL1 this way.
pub(crate) const LIVE: u64 =
    EL0 | READ_ONLY | ACCESSED | GUARDED | DIRTY_BIT_MODIFIER | NO_EL0 | SOFTWARE;

/// Position of AttrIndx.
pub(crate) const INDEX_SHIFT: u32 = 2;
/// Inner shareable, in SH.
pub(crate) const INNER_SHAREABLE: u64 = SHAREABILITY;
/// The reserved value of SH.
pub(crate) const RESERVED_SHAREABILITY: u64 = 0b01 << 8;

/// Whether a descriptor takes part in translation. The reserved encodings 0b01 at levels 0 and
/// 3 never get into a table.
#[inline]
pub(crate) const fn is_valid(descriptor: u64) -> bool {
    descriptor & VALID != 0
}

/// Whether a valid descriptor of level 0 to 2 is a block.
pub(crate) const fn is_block(descriptor: u64) -> bool {
    descriptor & TABLE == VALID
}

/// Whether a valid descriptor of level 0 to 2 leads to a table.
pub(crate) const fn is_table(descriptor: u64) -> bool {
    descriptor & TABLE == TABLE
}

/// Bits of the most common mapping of all, a user's ordinary memory: with these the rest of the
/// descriptor may be anything that [`LIVE`] has.
pub(crate) const COMMON: u64 = TABLE | INNER_SHAREABLE | NON_GLOBAL | NO_EL1;
/// Where the common mapping may not differ from [`COMMON`].
const NOT_COMMON: u64 = !(LIVE | OUTPUT_ADDRESS);

/// Whether a descriptor of level 3 needs no other check than that its frame is ordinary.
#[inline(always)]
pub(crate) const fn is_common(leaf: u64) -> bool {
    leaf & NOT_COMMON == COMMON
}

/// Whether both descriptors of level 3 need no other check than that their frames are ordinary.
#[inline(always)]
pub(crate) const fn are_common(one: u64, other: u64) -> bool {
    is_common(one) && is_common(other)
}
