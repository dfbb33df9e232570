// SPDX-License-Identifier: MIT OR Apache-2.0
//! The blocks that are on their way into a pool, or out of one.

use donjon_abi::call::POOL_TOGETHER_MAX;
use donjon_abi::layout::BLOCK_SIZE;

use super::types::EntryAddress;

/// A block whose frames are claimed.
#[derive(Clone, Copy)]
pub(super) struct Claim {
    /// Its first physical address.
    pub block: u64,
    /// The entry of the linear map that shows it, or did.
    pub entry: EntryAddress,
}

/// All of them. One search looks for all, and takes as long as for one.
pub(super) struct Claims {
    claims: [Option<Claim>; POOL_TOGETHER_MAX],
    count: usize,
    /// Bits of an address in which some of them differ.
    differ: u64,
}

impl Claims {
    pub const NONE: Self = Self {
        claims: [None; POOL_TOGETHER_MAX],
        count: 0,
        differ: BLOCK_SIZE - 1,
    };

    pub fn clear(&mut self) {
        *self = Self::NONE;
    }

    /// Whether there is room for one more.
    pub const fn is_full(&self) -> bool {
        self.count == POOL_TOGETHER_MAX
    }

    /// Adds one; there is room.
    pub fn push(&mut self, claim: Claim) {
        let first = self.iter().next().map_or(claim.block, |it| it.block);
        if let Some(room) = self.claims.get_mut(self.count) {
            *room = Some(claim);
            self.count += 1;
            self.differ |= first ^ claim.block;
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Claim> + use<'_> {
        self.claims.iter().map_while(|it| *it)
    }

    pub fn get(&self, index: usize) -> Option<Claim> {
        *self.claims.get(index)?
    }

    /// Whether the last one is of this block.
    pub fn is_last(&self, block: u64) -> bool {
        let last = self.count.checked_sub(1).and_then(|it| self.get(it));
        last.is_some_and(|it| it.block == block)
    }

    /// Which addresses may be in one of them: those that equal the first number in the bits of the
    /// second. Others are in none.
    pub fn cover(&self) -> (u64, u64) {
        // Bits below the highest in which some differ do not count either.
        let below = u64::MAX
            .checked_shr(self.differ.leading_zeros())
            .unwrap_or(0);
        let first = self.iter().next().map_or(u64::MAX, |it| it.block);
        (first & !below, !below)
    }

    /// The one that an address is in.
    pub fn find(&self, address: u64) -> Option<Claim> {
        let block = address & !(BLOCK_SIZE - 1);
        self.iter().find(|it| it.block == block)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    use super::*;

    fn claim(block: u64) -> Claim {
        let entry = EntryAddress::new(8).expect("a multiple of 8");
        Claim { block, entry }
    }

    proptest! {
        #[test]
        fn the_cover_has_each_address_that_is_found(
            numbers in btree_set(0_u64..1 << 20, 1..=POOL_TOGETHER_MAX),
            offset in 0..BLOCK_SIZE,
        ) {
            let mut claims = Claims::NONE;
            for number in &numbers {
                prop_assert!(!claims.is_full());
                claims.push(claim(number * BLOCK_SIZE));
                prop_assert!(claims.is_last(number * BLOCK_SIZE));
            }
            prop_assert_eq!(claims.is_full(), numbers.len() == POOL_TOGETHER_MAX);
            let (value, mask) = claims.cover();
            for number in &numbers {
                let address = number * BLOCK_SIZE + offset;
                prop_assert_eq!(address & mask, value);
                prop_assert_eq!(claims.find(address).map(|it| it.block), Some(number * BLOCK_SIZE));
            }
        }
    }

    #[test]
    fn one_block_is_covered_alone() {
        let mut claims = Claims::NONE;
        claims.push(claim(3 * BLOCK_SIZE));
        assert_eq!(claims.cover(), (3 * BLOCK_SIZE, !(BLOCK_SIZE - 1)));
        assert!(claims.find(4 * BLOCK_SIZE).is_none());
        claims.clear();
        let (value, mask) = claims.cover();
        assert_ne!(value & mask, (3 * BLOCK_SIZE) & mask);
        assert!(!claims.is_last(3 * BLOCK_SIZE));
    }
}
