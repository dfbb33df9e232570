// SPDX-License-Identifier: MIT OR Apache-2.0
//! A compartment ends: its frames are wiped and freed.

use donjon_abi::call::Reason;

use super::space::first_valid;
use super::{Compartments, Guard, Handle, NONE, Phase, State};
use crate::private::{Owner, Private};
use crate::rules::{Hardware, Step};
use crate::weaken;

/// Most frames that are wiped in one call.
const WIPED_PER_SLICE: u64 = 16;
/// Most entries of level 3 that are looked at in one call.
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
        let mut looks = 0;
        let mut wiped = 0;
        while wiped < WIPED_PER_SLICE && looks < LOOKS_PER_SLICE {
            if !strip(hw, private, (&mut state, owner), &mut wiped) {
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
            looks += 512;
        }
        Ok(false)
    }
}

/// Unmaps pages of the first table of level 3, or the table when it is empty; false when the root
/// has none.
fn strip<H: Hardware>(
    hw: &mut H,
    private: &mut Private<'_>,
    (state, owner): (&mut State, Owner),
    wiped: &mut u64,
) -> bool {
    let mut table = state.root;
    let mut parent = None;
    for _ in 0..3 {
        match first_valid(hw, table) {
            Some((entry, below)) => (parent, table) = (Some(entry), below),
            None => break,
        }
    }
    let Some(link) = parent else {
        return false;
    };
    while *wiped < WIPED_PER_SLICE {
        let Some((entry, frame)) = first_valid(hw, table) else {
            hw.perform(Step::Write {
                entry: link,
                value: 0,
            });
            wipe(hw, private, table);
            state.frames -= 1;
            *wiped += 1;
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
        *wiped += 1;
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
