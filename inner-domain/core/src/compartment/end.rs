// SPDX-License-Identifier: MIT OR Apache-2.0
//! A compartment ends: its frames are wiped and freed.

use core::ops::Range;

use donjon_abi::call::Reason;
use sha2::Sha256;

use super::space::{UPPER, first_valid, place};
use super::{Compartments, Guard, Handle, NONE, Phase, State, channel};
use crate::checks::{Checks, Configured};
use crate::memory::private::{Owner, Private};
use crate::translation::address::UserAddress;
use crate::translation::{EntryAddress, FrameAddress, Hardware, RawDescriptor, Step};

/// What one call does, in entries that are looked at: six or seven instructions each. The search
/// above the last level goes on to its end: 769 entries at most.
const WORK_PER_SLICE: i64 = 1_664;
/// What wiping a frame takes, in entries: 210 instructions, or 330 where DC ZVA may not be used.
const WIPE: i64 = 40;

impl Compartments<'_> {
    /// Wipes a part of a compartment that does not run; true when nothing of it is left. From the
    /// first time on it never runs again.
    ///
    /// # Errors
    ///
    /// [`Reason::InUse`] while it runs, and while there are compartments that were made from it.
    pub fn destroy<H: Hardware>(
        &self,
        hw: &mut H,
        private: &mut Private<'_>,
        handle: Handle,
    ) -> Result<bool, Reason> {
        let Guard { mut state, owner } = self.of(handle)?;
        let is_running = matches!(state.phase, Phase::Running(_) | Phase::AttestedRunning(_));
        let runs = is_running && Configured::RUNNING.is_made();
        if runs || state.clones > 0 && Configured::TEMPLATE.is_made() {
            return Err(Reason::InUse);
        }
        if state.phase != Phase::Ending {
            (state.phase, state.reached) = (Phase::Ending, UserAddress::ZERO);
        }
        if let Some(addition) = state.addition.take() {
            wipe(hw, private, addition.to);
            state.frames -= 1;
        }
        let mut budget = Budget(WORK_PER_SLICE);
        for inbox in channel::close(&mut state) {
            wipe(hw, private, inbox);
            state.frames -= 1;
            budget.take(WIPE);
        }
        while budget.0 > 0 {
            if !strip(hw, private, (&mut state, owner), &mut budget) {
                self.note_root(handle.index(), FrameAddress::NONE);
                for frame in [state.context, state.root] {
                    wipe(hw, private, frame);
                }
                state.phase = Phase::Vacant;
                state.measurement = [0; 32];
                // Some of the last page is still in its buffer, where it was not sealed.
                state.hash = Sha256::default();
                let template = core::mem::replace(&mut state.template, NONE);
                self.make_vacant(handle.index(), &mut state);
                drop(state);
                self.release_template(template);
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// What a slice may still do.
struct Budget(i64);

impl Budget {
    const fn take(&mut self, entries: i64) {
        self.0 -= entries;
    }
}

/// Unmaps pages of the first table of level 3, or frees a table that is empty; false when the root
/// has none. What is below the address that was reached is gone.
fn strip<H: Hardware>(
    hw: &mut H,
    private: &mut Private<'_>,
    (state, owner): (&mut State, Owner),
    budget: &mut Budget,
) -> bool {
    let (mut table, mut from) = (state.root, state.root.entry(0));
    let mut link = None;
    for shift in UPPER {
        from = place(table, state.reached, shift);
        let found = first_valid(hw, table, from);
        let end = found.map_or(table.end(), |(entry, _)| entry.after(1));
        budget.take(end.distance(from) as i64);
        let Some((entry, below)) = found else {
            from = end;
            break;
        };
        if entry != from {
            let index = entry.distance(table.entry(0));
            state.reached = state.reached.with_index(shift, index);
        }
        (link, table) = (Some(entry), below);
        from = place(table, state.reached, 12);
    }
    let Some(link) = link else {
        return false;
    };
    let end = table.end();
    let (until, freed) = clear(hw, private, owner, from..end, budget);
    state.frames -= freed;
    if until < end {
        let index = until.distance(table.entry(0));
        state.reached = state.reached.with_index(12, index);
        return true;
    }
    link.write(hw, RawDescriptor::INVALID);
    wipe(hw, private, table);
    budget.take(WIPE);
    state.frames -= 1;
    true
}

/// Unmaps pages that entries of a table lead to, as far as the budget reaches, and frees them:
/// where it stopped, and how many of them were the compartment's own.
// Apart: a page takes four instructions more where its loop shares registers with the callers.
#[inline(never)]
fn clear<H: Hardware>(
    hw: &mut H,
    private: &mut Private<'_>,
    owner: Owner,
    entries: Range<EntryAddress>,
    budget: &mut Budget,
) -> (EntryAddress, u64) {
    let (mut entry, mut freed) = (entries.start, 0);
    while entry < entries.end && budget.0 > 0 {
        let descriptor = entry.read(hw);
        if descriptor.is_valid() {
            let frame = descriptor.output();
            entry.write(hw, RawDescriptor::INVALID);
            budget.take(1 + WIPE);
            match private.give_back_of(owner, frame, || zero(hw, frame)) {
                Some(true) => freed += 1,
                // The template's code.
                Some(false) => {}
                None => private.unshare(frame),
            }
        } else {
            budget.take(1);
        }
        entry = entry.after(1);
    }
    (entry, freed)
}

/// Makes a frame free.
pub(super) fn wipe<H: Hardware>(hw: &mut H, private: &mut Private<'_>, frame: FrameAddress) {
    zero(hw, frame);
    private.give_back(frame);
}

pub(super) fn zero<H: Hardware>(hw: &mut H, frame: FrameAddress) {
    if Configured::WIPE.is_made() {
        hw.perform(Step::ZeroFrame(frame.as_u64()));
    }
}
