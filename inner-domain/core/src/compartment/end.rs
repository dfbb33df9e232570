// SPDX-License-Identifier: MIT OR Apache-2.0
//! A compartment ends: its frames are wiped and freed.

use donjon_abi::call::Reason;
use donjon_abi::layout::PAGE_SIZE;

use super::space::first_valid;
use super::{Compartments, Guard, Handle, NONE, Phase, State, channel};
use crate::address::ENTRIES;
use crate::private::{Owner, Private};
use crate::rules::{Hardware, Step};
use crate::weaken;

/// Most frames that are wiped in one call.
const WIPED_PER_SLICE: u64 = 16;
/// Entries after which a call ends. With the table that it ends in it looks at 3,072 at most.
const LOOKS_PER_SLICE: u64 = 1_024;

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
        if matches!(state.phase, Phase::Running(_)) || state.clones > 0 {
            return Err(Reason::InUse);
        }
        state.phase = Phase::Ending;
        if let Some(addition) = state.addition.take() {
            wipe(hw, private, addition.to);
            state.frames -= 1;
        }
        let mut budget = Budget { looks: 0, wiped: 0 };
        for inbox in channel::close(&mut state) {
            wipe(hw, private, inbox);
            state.frames -= 1;
            budget.wiped += 1;
        }
        while budget.wiped < WIPED_PER_SLICE && budget.looks < LOOKS_PER_SLICE {
            if !strip(hw, private, (&mut state, owner), &mut budget) {
                self.note_root(handle.index(), 0);
                for frame in [state.context, state.root] {
                    wipe(hw, private, frame);
                }
                state.phase = Phase::Vacant;
                state.measurement = [0; 32];
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

/// What a slice has done so far.
struct Budget {
    /// Entries that it has looked at.
    looks: u64,
    /// Frames that it has wiped, or let go of.
    wiped: u64,
}

/// Unmaps pages of the first table of level 3, or frees the table when it is empty; false when the
/// root has none.
fn strip<H: Hardware>(
    hw: &mut H,
    private: &mut Private<'_>,
    (state, owner): (&mut State, Owner),
    budget: &mut Budget,
) -> bool {
    let mut table = state.root;
    let mut parent = None;
    for _ in 0..3 {
        let Some((entry, below)) = first_valid(hw, table, table) else {
            budget.looks += ENTRIES as u64;
            break;
        };
        budget.looks += (entry - table) / 8 + 1;
        (parent, table) = (Some(entry), below);
    }
    let Some(link) = parent else {
        return false;
    };
    let mut from = table;
    while budget.wiped < WIPED_PER_SLICE {
        let found = first_valid(hw, table, from);
        let end = found.map_or(table + PAGE_SIZE, |(entry, _)| entry + 8);
        budget.looks += (end - from) / 8;
        from = end;
        budget.wiped += 1;
        let Some((entry, frame)) = found else {
            hw.perform(Step::Write {
                entry: link,
                value: 0,
            });
            wipe(hw, private, table);
            state.frames -= 1;
            return true;
        };
        hw.perform(Step::Write { entry, value: 0 });
        match private.owner(frame) {
            Some(it) if it == owner => {
                wipe(hw, private, frame);
                state.frames -= 1;
            }
            // The template's code.
            Some(_) => {}
            None => private.unshare(frame),
        }
    }
    true
}

/// Makes a frame free.
pub(super) fn wipe<H: Hardware>(hw: &mut H, private: &mut Private<'_>, frame: u64) {
    if !weaken::WIPE {
        hw.perform(Step::ZeroFrame(frame));
    }
    private.give_back(frame);
}
