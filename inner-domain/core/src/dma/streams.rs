// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stream table and the context of an SMMUv3: every StreamID leads to one context (Arm
//! IHI 0070, 5.1 to 5.4).
//!
//! The table has two levels. All entries of the first lead to one page of the second, whose entries
//! are alike: 65,536 StreamIDs in 12 KiB.

use crate::checks::{Checks, Configured};
use crate::translation::address::PhysicalAddress;

/// Entries of the first level.
pub const FIRST_ENTRIES: usize = 1 << (STREAM_BITS - SPLIT);
/// Bytes of the first level, and what it is aligned to.
pub const FIRST_SIZE: u64 = FIRST_ENTRIES as u64 * 8;
/// Entries of the second level.
pub const SECOND_ENTRIES: usize = 1 << SPLIT;
/// Words of an entry of the second level, and of the context.
pub const WORDS: usize = 8;
/// Bits of a StreamID.
pub const STREAM_BITS: u32 = 16;
/// Bits of a StreamID that the second level decides.
const SPLIT: u32 = 6;

/// `STRTAB_BASE_CFG`: two levels.
pub const STRTAB_BASE_CFG: u32 = 1 << 16 | SPLIT << 6 | STREAM_BITS;

/// Returns the entry of the first level that leads to `second`.
pub const fn first_entry(second: PhysicalAddress) -> u64 {
    second.as_u64() | (SPLIT + 1) as u64
}

/// Returns the entry of the second level that leads to the context at `context`.
///
/// Stage 1 translates, stage 2 is bypassed. The context is fetched through caches. There are no
/// substreams, no ATS and no stalls (S1STALLD is reserved where an SMMU has none); what a device
/// says about privilege does not count.
pub const fn stream_entry(context: PhysicalAddress) -> [u64; WORDS] {
    const VALID: u64 = 1;
    const STAGE_1: u64 = 0b101 << 1;
    const BYPASS: u64 = 0b100 << 1;
    const WRITE_BACK: u64 = 1 << 2 | 1 << 4;
    const SHAREABLE: u64 = 3 << 6;
    const INCOMING_SHAREABILITY: u64 = 1 << 44;
    const PRIVILEGED: u64 = 3 << 48;
    let way = if Configured::STREAM.is_in_code() {
        STAGE_1
    } else {
        BYPASS
    };
    let first = VALID | way | context.as_u64();
    let second = WRITE_BACK | SHAREABLE | INCOMING_SHAREABILITY | PRIVILEGED;
    [first, second, 0, 0, 0, 0, 0, 0]
}

/// Returns the context whose tables begin at `root`. What it does not translate is ended with an
/// abort, and recorded where there is a queue for it.
pub const fn context(root: PhysicalAddress) -> [u64; WORDS] {
    /// 39 bits of addresses: [`super::translation::END`].
    const T0SZ: u64 = 64 - super::translation::END.trailing_zeros() as u64;
    const WRITE_BACK: u64 = 1 << 8 | 1 << 10;
    const SHAREABLE: u64 = 3 << 12;
    const NO_UPPER_RANGE: u64 = 1 << 30;
    const VALID: u64 = 1 << 31;
    /// 40 bits of output.
    const IPS: u64 = 0b010 << 32;
    const AARCH64: u64 = 1 << 41;
    const RECORD: u64 = 1 << 45;
    const ABORT: u64 = 1 << 46;
    const ASID: u64 = 1 << 48;
    let first = T0SZ
        | WRITE_BACK
        | SHAREABLE
        | NO_UPPER_RANGE
        | VALID
        | IPS
        | AARCH64
        | RECORD
        | ABORT
        | ASID;
    [
        first,
        root.as_u64(),
        0,
        super::translation::MAIR,
        0,
        0,
        0,
        0,
    ]
}
