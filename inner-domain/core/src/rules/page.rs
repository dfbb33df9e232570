// SPDX-License-Identifier: MIT OR Apache-2.0
//! Entries of level 3: the kernel's pages are mapped, changed and unmapped.

use donjon_abi::call::Reason;
use donjon_abi::layout::PAGE_SIZE;

use super::checks::Checks;
use super::links::Place;
use super::step::{Hardware, Step};
use super::{Rules, bits, flush, index_of};
use crate::address::Level;
use crate::frames::FrameType;

impl<C: Checks> Rules<'_, C> {
    /// Replaces an entry of a level 3 table.
    pub(super) fn write_page<H: Hardware>(
        &mut self,
        hw: &mut H,
        place: Place,
        value: u64,
    ) -> Result<u64, Reason> {
        let Place { entry, table, .. } = place;
        let old = hw.read(entry);
        if !bits::is_valid(value) {
            hw.perform(Step::Write { entry, value });
            if self.is_module_text(old) {
                flush::leaf(hw, self.address(place));
                self.free_text(old & bits::ADDRESS);
            } else if bits::is_valid(old) {
                self.pool[table].set_stale(index_of(entry));
            }
            return Ok(old);
        }
        if value == old {
            return Ok(old);
        }
        self.check_page(value)?;
        if bits::is_valid(old) {
            if C::TRANSITION && (old ^ value) & !bits::LIVE != 0 {
                return Err(Reason::LiveChange);
            }
        } else if self.pool[table].is_stale(index_of(entry)) {
            flush::leaf(hw, self.address(place));
            self.pool[table].clear_stale(index_of(entry));
        }
        hw.perform(Step::Write { entry, value });
        Ok(old)
    }

    /// Whether a descriptor of level 3 is what [`seal_finish`](Self::seal_finish) made: the one
    /// mapping through which a frame of module text is executed.
    pub(super) fn is_module_text(&self, leaf: u64) -> bool {
        bits::is_valid(leaf)
            && leaf & bits::NO_EL1 == 0
            && self.frames.get(leaf & bits::ADDRESS) == Some(FrameType::ModuleText)
    }
}

const _: () = assert!(PAGE_SIZE == Level::Three.size());
