// SPDX-License-Identifier: MIT OR Apache-2.0
//! The linear map: where it shows a block of memory.

use donjon_abi::layout::ROOT_HALF;

use super::state::KernelTables;
use crate::checks::Checks;
use crate::translation::address::{Level, VirtualAddress};
use crate::translation::{EntryAddress, Hardware, leaf};

impl<C: Checks> KernelTables<'_, C> {
    /// Where the linear map shows a physical address.
    pub(crate) fn linear_address(&self, address: u64) -> Option<VirtualAddress> {
        VirtualAddress::new(address.wrapping_add(self.linear_offset?))
    }

    /// The entry of the linear map where a block is shown, or was.
    pub(crate) fn linear_place<H: Hardware>(&self, hw: &H, block: u64) -> Option<EntryAddress> {
        let address = self.linear_address(block)?;
        let mut table = self.root;
        for level in [Level::Zero, Level::One] {
            let index = match level {
                // As the outer view indexes the root.
                Level::Zero => address.index(level) % ROOT_HALF,
                _ => address.index(level),
            };
            let descriptor = table.entry(index).read(hw);
            if !descriptor.is_valid() || !descriptor.is_table() {
                return None;
            }
            table = descriptor.output();
        }
        Some(table.entry(address.index(Level::Two)))
    }

    /// The entry of the linear map that shows a block as a block of ordinary memory.
    pub(crate) fn linear_entry<H: Hardware>(&self, hw: &H, block: u64) -> Option<EntryAddress> {
        let leaf = self.leaf_of(hw, self.linear_address(block)?)?;
        // Tables and text have one set of memory attributes, which the rest of memory need not.
        let entry = EntryAddress::new(leaf.entry)?;
        let alike = leaf::is_write_back(entry.read(hw));
        (leaf.level == Level::Two && leaf.page == block && alike).then_some(entry)
    }
}
