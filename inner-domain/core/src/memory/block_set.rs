// SPDX-License-Identifier: MIT OR Apache-2.0
//! Some blocks of memory, for a search that looks for all of them and takes as long as for one.

use donjon_abi::call::POOL_TOGETHER_MAX;
use donjon_abi::layout::BLOCK_SIZE;

/// Up to [`POOL_TOGETHER_MAX`] blocks of 2 MiB.
#[derive(Clone, Debug)]
pub struct BlockSet {
    blocks: [u64; POOL_TOGETHER_MAX],
    count: usize,
    /// Bits of an address in which some of them differ, those within a block included.
    differ: u64,
}

impl BlockSet {
    /// The empty set.
    pub const EMPTY: Self = Self {
        blocks: [u64::MAX; POOL_TOGETHER_MAX],
        count: 0,
        differ: BLOCK_SIZE - 1,
    };

    /// The set of one block, by its first physical address.
    pub fn of(block: u64) -> Self {
        let mut set = Self::EMPTY;
        set.push(block);
        set
    }

    /// Whether there is room for no more.
    pub const fn is_full(&self) -> bool {
        self.count == POOL_TOGETHER_MAX
    }

    /// How many they are.
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether it has none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a block, by its first physical address. A set that is full stays as it is.
    pub fn push(&mut self, block: u64) {
        if let Some(room) = self.blocks.get_mut(self.count) {
            *room = block;
            self.count += 1;
            self.differ |= self.blocks[0] ^ block;
        }
    }

    /// The blocks, in the order in which they were added.
    pub fn as_slice(&self) -> &[u64] {
        self.blocks.get(..self.count).unwrap_or(&[])
    }

    /// A value and a mask: what is in one of the blocks equals the first in the bits of the second.
    /// Most of what is in none does not.
    #[inline]
    pub fn cover(&self) -> (u64, u64) {
        // Bits below the highest in which some differ do not count either.
        let below = u64::MAX.unbounded_shr(self.differ.leading_zeros());
        (self.blocks[0] & !below, !below)
    }

    /// The number of the block that an address is in.
    pub fn position(&self, address: u64) -> Option<usize> {
        let block = address & !(BLOCK_SIZE - 1);
        self.as_slice().iter().position(|it| *it == block)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: if cfg!(miri) { 16 } else { 1024 },
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn the_cover_has_each_address_that_is_found(
            numbers in btree_set(0_u64..1 << 20, 1..=POOL_TOGETHER_MAX),
            offset in 0..BLOCK_SIZE,
        ) {
            let mut set = BlockSet::EMPTY;
            for number in &numbers {
                prop_assert!(!set.is_full());
                set.push(number * BLOCK_SIZE);
            }
            prop_assert_eq!(set.is_full(), numbers.len() == POOL_TOGETHER_MAX);
            let (value, mask) = set.cover();
            for (index, number) in numbers.iter().enumerate() {
                let address = number * BLOCK_SIZE + offset;
                prop_assert_eq!(address & mask, value);
                prop_assert_eq!(set.position(address), Some(index));
            }
        }
    }

    #[test]
    fn one_block_is_covered_alone() {
        let set = BlockSet::of(3 * BLOCK_SIZE);
        assert_eq!(set.cover(), (3 * BLOCK_SIZE, !(BLOCK_SIZE - 1)));
        assert_eq!(set.position(4 * BLOCK_SIZE), None);
        let (value, mask) = BlockSet::EMPTY.cover();
        assert_ne!(value, (3 * BLOCK_SIZE) & mask);
        assert_eq!(BlockSet::EMPTY.position(u64::MAX), None);
    }
}
