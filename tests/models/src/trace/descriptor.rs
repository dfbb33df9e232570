// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decodes entries as far as the checks need (Arm DDI 0487, D8.3).

/// Bytes of a frame and of a table.
pub const PAGE: u64 = 4096;
/// Entries of a table.
pub const ENTRIES: u64 = 512;
/// First address of the upper range in the outer view.
pub const UPPER: u64 = 0xffff_8000_0000_0000;
/// First address of the upper range in the inner view, which shows the outer one 2^47 lower.
pub const WIDE: u64 = 0xffff_0000_0000_0000;

const ADDRESS: u64 = 0x0000_ffff_ffff_f000;
/// AP, AF, GP, DBM, PXN, UXN and what hardware ignores: what may change in a valid leaf.
const PERMISSIONS: u64 = 0b11 << 6 | 1 << 10 | 1 << 50 | 1 << 51 | 1 << 53 | 1 << 54 | 0b1111 << 55;
/// AF and what a table takes away from the levels below.
const OF_TABLES: u64 = 1 << 10 | 0b1_1111 << 59;
const READ_ONLY: u64 = 1 << 7;
const DIRTY_BIT_MODIFIER: u64 = 1 << 51;

/// Bytes that an entry of a table of `level` spans.
pub const fn span(level: u8) -> u64 {
    1 << (39 - 9 * level as u32)
}

/// Index of an entry in its table.
pub const fn index(entry: u64) -> usize {
    (entry % PAGE / 8) as usize
}

/// The table that an entry is in.
pub const fn table_of(entry: u64) -> u64 {
    entry & !(PAGE - 1)
}

/// The table that an entry of `level` leads to.
pub const fn next(descriptor: u64, level: u8) -> Option<u64> {
    if level < 3 && descriptor & 0b11 == 0b11 {
        Some(descriptor & ADDRESS)
    } else {
        None
    }
}

/// Whether an entry of `level` is a block or a page.
pub const fn is_leaf(descriptor: u64, level: u8) -> bool {
    match level {
        1 | 2 => descriptor & 0b11 == 0b01,
        3 => descriptor & 0b11 == 0b11,
        _ => false,
    }
}

/// Whether an entry of `level` takes part in translation.
pub const fn is_valid(descriptor: u64, level: u8) -> bool {
    is_leaf(descriptor, level) || next(descriptor, level).is_some()
}

/// The first byte that a leaf shows.
pub const fn output(descriptor: u64, level: u8) -> u64 {
    descriptor & ADDRESS & !(span(level) - 1)
}

/// Whether a leaf is as all of a user's are: under one ASID, never executable at EL1, read-only if
/// it says so, and alone.
pub const fn is_users(descriptor: u64) -> bool {
    const SET: u64 = 1 << 11 | 1 << 53;
    const CLEAR: u64 = DIRTY_BIT_MODIFIER | 1 << 52;
    descriptor & (SET | CLEAR) == SET
}

/// Whether one can write through a leaf.
pub const fn is_writable(descriptor: u64) -> bool {
    descriptor & READ_ONLY == 0 || descriptor & DIRTY_BIT_MODIFIER != 0
}

/// Whether two valid entries of `level` may not be held for one address at the same time: more
/// than permissions differ (D8.17.1).
pub const fn conflict(one: u64, other: u64, level: u8) -> bool {
    let may_differ = if next(one, level).is_some() {
        OF_TABLES
    } else {
        PERMISSIONS
    };
    (one ^ other) & !may_differ != 0
}
