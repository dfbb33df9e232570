// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checks of a table write without the write, for the hand-over: one rule for both.

use donjon_abi::call::Reason;

use super::checks::Checks;
use super::{Rules, bits, leaf, slots};

/// Whether Linux may link a table in a root slot that is empty.
pub(crate) fn may_be_linked(slot: usize) -> bool {
    slots::may_be_linked(slot)
}

/// Whether a table descriptor has no bits but those that one may have.
pub(crate) const fn is_plain_table(descriptor: u64) -> bool {
    descriptor & bits::TABLE == bits::TABLE && descriptor & !bits::OF_TABLE == 0
}

impl<C: Checks> Rules<'_, C> {
    /// Checks a valid descriptor of a kernel table of level 3.
    pub(crate) fn check_page(&self, leaf: u64) -> Result<(), Reason> {
        leaf::check_page::<C>(&self.frames, &self.devices, leaf)
    }

    /// Checks a block of a kernel table of level 2.
    pub(crate) fn check_block(&self, leaf: u64) -> Result<(), Reason> {
        leaf::check_block::<C>(&self.frames, &self.devices, leaf)
    }
}
