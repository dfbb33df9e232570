// SPDX-License-Identifier: MIT OR Apache-2.0
//! The size of the memory that no device reaches: for the pools of tables and of text, and for
//! compartments.

use donjon_abi::layout::BLOCK_SIZE;

const MIB: u64 = 1 << 20;
/// One byte of RAM in this many is for tables from the beginning, and as much for text. Linux
/// computes the same in `pool_reserved.c`.
const POOL_SHARE: u64 = 128;
const POOL_LEAST: u64 = 4 * MIB;
const POOL_MOST: u64 = 64 * MIB;
/// One byte of RAM in this many is for what is added later: tables up to [`POOL_SHARE`] again, and
/// compartments.
const GROWTH_SHARE: u64 = 32;
const GROWTH_LEAST: u64 = 8 * MIB;

/// Returns the bytes of the reserve for `ram` bytes of RAM, whole blocks. `protected` is what is
/// kept for compartments, where that is not a part of RAM.
pub const fn size(ram: u64, protected: Option<u64>) -> u64 {
    let pool = pool(ram);
    let growth = match protected {
        Some(bytes) => bytes + pool,
        None if ram / GROWTH_SHARE < GROWTH_LEAST => GROWTH_LEAST,
        None => ram / GROWTH_SHARE,
    };
    2 * pool + growth.next_multiple_of(BLOCK_SIZE)
}

/// Returns the bytes of one pool from the beginning, and of what may be added to that of tables.
pub const fn pool(ram: u64) -> u64 {
    let share = (ram / POOL_SHARE).next_multiple_of(BLOCK_SIZE);
    if share < POOL_LEAST {
        POOL_LEAST
    } else if share > POOL_MOST {
        POOL_MOST
    } else {
        share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_1_gib_32_mib_are_set_aside_beside_the_pools() {
        assert_eq!(pool(1 << 30), 8 * MIB);
        assert_eq!(size(1 << 30, None), (8 + 8 + 32) * MIB);
        assert_eq!(size(256 * MIB, None), (4 + 4 + 8) * MIB);
        assert_eq!(size(1000 * MIB, None), (8 + 8 + 32) * MIB);
        assert_eq!(size(64 << 30, None), (64 + 64 + 2048) * MIB);
    }

    #[test]
    fn compartments_have_what_is_asked_for() {
        assert_eq!(size(1 << 30, Some(384 * MIB)), (8 + 8 + 8 + 384) * MIB);
        assert_eq!(size(1 << 30, Some(1)), (8 + 8 + 8 + 2) * MIB);
    }
}
