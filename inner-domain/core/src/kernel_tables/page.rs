// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes of level 3 entries of kernel tables.

use donjon_abi::call::Reason;
use donjon_abi::layout::PAGE_SIZE;

use super::state::KernelTables;
use super::table::LinkedEntry;
use crate::checks::Checks;
use crate::translation::Hardware;
use crate::translation::RawDescriptor;
use crate::translation::address::Level;
use crate::translation::frames::FrameType;
use crate::translation::{flush, leaf};

impl<C: Checks> KernelTables<'_, C> {
    /// Replaces an entry of a level 3 table.
    pub(super) fn write_page<H: Hardware>(
        &mut self,
        hw: &mut H,
        place: LinkedEntry,
        value: RawDescriptor,
    ) -> Result<RawDescriptor, Reason> {
        let LinkedEntry { entry, table, .. } = place;
        let old = entry.read(hw);
        if !value.is_valid() {
            entry.write(hw, value);
            if self.is_module_text(old) {
                flush::leaf(hw, self.address(place));
                self.free_text(old.output());
            } else if old.is_valid() {
                self.pool[table].set_stale(entry.index());
            }
            return Ok(old);
        }
        if value == old {
            return Ok(old);
        }
        leaf::check_page::<C>(&self.frames, &self.devices, value)?;
        if old.is_valid() {
            if C::TRANSITION.is_made() && !value.is_live_change(old) {
                return Err(Reason::LiveChange);
            }
        } else if self.pool[table].is_stale(entry.index()) {
            flush::leaf(hw, self.address(place));
            self.pool[table].clear_stale(entry.index());
        }
        entry.write(hw, value);
        Ok(old)
    }

    /// Whether a descriptor of level 3 is what [`seal_finish`](Self::seal_finish) made: the one
    /// mapping through which a frame of module text is executed.
    pub(super) fn is_module_text(&self, leaf: RawDescriptor) -> bool {
        leaf.is_valid()
            && leaf.is_executable()
            && self.frames.get(leaf.output().as_u64()) == Some(FrameType::ModuleText)
    }
}

const _: () = assert!(PAGE_SIZE == Level::Three.size());
