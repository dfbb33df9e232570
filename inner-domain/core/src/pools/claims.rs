// SPDX-License-Identifier: MIT OR Apache-2.0
//! The blocks that are on their way into a pool, or out of one.

use donjon_abi::call::POOL_TOGETHER_MAX;

use crate::memory::block_set::BlockSet;
use crate::translation::EntryAddress;

/// A block whose frames are claimed.
#[derive(Clone, Copy)]
pub(super) struct Claim {
    /// First physical address of the block.
    pub block: u64,
    /// The entry of the linear map that shows it, or did.
    pub entry: EntryAddress,
}

/// Claimed blocks, in the order of claiming.
pub(super) struct Claims {
    blocks: BlockSet,
    entries: [Option<EntryAddress>; POOL_TOGETHER_MAX],
}

impl Claims {
    pub const NONE: Self = Self {
        blocks: BlockSet::EMPTY,
        entries: [None; POOL_TOGETHER_MAX],
    };

    pub fn clear(&mut self) {
        *self = Self::NONE;
    }

    pub const fn blocks(&self) -> &BlockSet {
        &self.blocks
    }

    /// Adds a claim. The caller has checked that there is room for [`POOL_TOGETHER_MAX`].
    pub fn push(&mut self, claim: Claim) {
        if let Some(entry) = self.entries.get_mut(self.blocks.len()) {
            *entry = Some(claim.entry);
            self.blocks.push(claim.block);
        }
    }

    pub fn get(&self, index: usize) -> Option<Claim> {
        let block = *self.blocks.as_slice().get(index)?;
        let entry = (*self.entries.get(index)?)?;
        Some(Claim { block, entry })
    }

    pub fn iter(&self) -> impl Iterator<Item = Claim> + use<'_> {
        (0..self.blocks.len()).map_while(|it| self.get(it))
    }

    /// Whether the last one is of this block.
    pub fn is_last(&self, block: u64) -> bool {
        self.blocks.as_slice().last() == Some(&block)
    }

    /// The claim on the block that an address is in.
    pub fn find(&self, address: u64) -> Option<Claim> {
        self.get(self.blocks.position(address)?)
    }
}
