// SPDX-License-Identifier: MIT OR Apache-2.0
//! A running compartment changes its own memory.

use donjon_abi::call::Reason;

use super::end::wipe;
use super::space::{self, Access};
use super::{Compartments, Guard, HEAP, Handle};
use crate::memory::private::Private;
use crate::translation::address::UserAddress;
use crate::translation::{Hardware, RawDescriptor, Step};

/// Most pages that one call adds, and takes away.
pub const GROW_MAX: u64 = 64;
/// Wiping takes longer.
pub const SHRINK_MAX: u64 = 16;

/// The first page of the heap.
const FIRST: UserAddress = match UserAddress::new(HEAP) {
    Some(first) => first,
    None => panic!("beyond the addresses of users"),
};

impl Compartments<'_> {
    /// Adds pages of zeros at the end of the heap of the compartment that runs on this CPU; how
    /// many were added, which are fewer at a limit, and how many it has.
    ///
    /// # Errors
    ///
    /// [`Reason::WrongTime`] if it does not run here.
    pub fn grow<H: Hardware>(
        &self,
        hw: &mut H,
        private: &mut Private<'_>,
        (handle, cpu): (Handle, usize),
        pages: u64,
    ) -> Result<(u64, u64), Reason> {
        let Guard { mut state, owner } = self.of_running(handle, cpu)?;
        let mut added = 0;
        while added < pages.min(GROW_MAX) {
            let va = FIRST.after(state.heap);
            if !space::is_page(va) {
                break;
            }
            let Ok(entry) = space::entry_for(hw, &mut state, owner, private, va) else {
                break;
            };
            if entry.read(hw) != RawDescriptor::INVALID {
                break;
            }
            let Ok(frame) = space::take(&mut state, owner, private) else {
                break;
            };
            space::map(hw, entry, frame, Access::Write);
            state.heap += 1;
            added += 1;
        }
        hw.perform(Step::BarrierStore);
        Ok((added, state.heap))
    }

    /// Takes pages away from the end of the heap, wiped; how many, how many are left, and the tag
    /// with which the compartment goes on.
    ///
    /// # Errors
    ///
    /// Those of [`grow`](Self::grow).
    pub fn shrink<H: Hardware>(
        &self,
        hw: &mut H,
        private: &mut Private<'_>,
        (handle, cpu): (Handle, usize),
        pages: u64,
    ) -> Result<(u64, u64, u64), Reason> {
        let Guard { mut state, .. } = self.of_running(handle, cpu)?;
        let mut removed = 0;
        while removed < pages.min(SHRINK_MAX).min(state.heap) {
            let va = FIRST.after(state.heap - 1 - removed);
            let Some(entry) = space::entry_of(hw, state.root, va) else {
                break;
            };
            let frame = entry.read(hw).output();
            entry.write(hw, RawDescriptor::INVALID);
            wipe(hw, private, frame);
            removed += 1;
        }
        state.heap -= removed;
        state.frames -= removed;
        if removed > 0 {
            // No CPU uses an entry under the old tag: this one invalidates before it enters again.
            state.tag = self.tag();
        }
        hw.perform(Step::BarrierStore);
        Ok((removed, state.heap, state.tag))
    }
}
