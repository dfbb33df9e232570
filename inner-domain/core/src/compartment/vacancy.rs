// SPDX-License-Identifier: MIT OR Apache-2.0
//! Slots without a compartment: found at once, however many there are.

use spin::mutex::MutexGuard;

use super::{Compartments, NONE, Phase, State};
use crate::report::waits::{COMPARTMENTS, Waiting};

impl Compartments<'_> {
    /// A vacant slot, with its lock held.
    pub(super) fn take_vacant(
        &self,
    ) -> Option<(u32, MutexGuard<'_, State, Waiting<COMPARTMENTS>>)> {
        let mut vacant = self.vacant.lock();
        let index = match vacant.first {
            NONE => vacant.fresh,
            first => first,
        };
        self.roots.get(index as usize)?;
        let state = self.slots.get(index as usize)?.0.lock();
        debug_assert_eq!(state.phase, Phase::Vacant);
        match vacant.first {
            NONE => vacant.fresh += 1,
            _ => vacant.first = state.next,
        }
        Some((index, state))
    }

    /// Notes that a slot, whose lock is held, is vacant.
    pub(super) fn make_vacant(&self, index: u32, state: &mut State) {
        let mut vacant = self.vacant.lock();
        state.next = vacant.first;
        vacant.first = index;
    }
}
