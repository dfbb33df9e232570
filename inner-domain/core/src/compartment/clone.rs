// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes a compartment from a template: with the template's code and constants, and copies of its
//! data.

use donjon_abi::call::Reason;

use super::space::{self, Access, Next};
use super::{Compartments, Guard, Handle, Memory, NONE, Phase};
use crate::checks::{Checks, Configured};
use crate::memory::private::Private;
use crate::translation::{Step, bits};

/// Most pages that are copied in one call, and that are shared; most entries that are looked at.
const COPIES_PER_SLICE: u32 = 4;
const SHARES_PER_SLICE: u32 = 16;
const LOOKS_PER_SLICE: u32 = 256;

impl Compartments<'_> {
    /// Makes a compartment that will be as `template` is, which was sealed and has not run. It is
    /// being built until [`copy`](Self::copy) has done all of it.
    ///
    /// # Errors
    ///
    /// [`Reason::WrongTime`] for a template that is not sealed, or has run; [`Reason::NoRoom`].
    pub fn clone_of(&self, private: &mut Private<'_>, template: Handle) -> Result<Handle, Reason> {
        let limit = {
            let Guard { mut state, .. } = self.of_phase(template, Phase::Idle)?;
            if !state.is_pristine && Configured::PRISTINE.is_made() {
                return Err(Reason::WrongTime);
            }
            state.clones = state.clones.checked_add(1).ok_or(Reason::NoRoom)?;
            state.limit
        };
        let made = self.create_from(private, limit, template.index());
        if made.is_err() {
            self.release_template(template.index());
        }
        made
    }

    /// Copies a part of the template; true when it is complete, and the compartment can run.
    ///
    /// # Errors
    ///
    /// [`Reason::WrongTime`] for what is no clone, or is complete, or if the template has run;
    /// [`Reason::OverLimit`] and [`Reason::NoRoom`].
    pub fn copy<M: Memory>(
        &self,
        memory: &mut M,
        private: &mut Private<'_>,
        handle: Handle,
    ) -> Result<bool, Reason> {
        let Guard { mut state, owner } = self.of_phase(handle, Phase::Building)?;
        let template = self.slots.get(state.template as usize);
        // It stays as long as it has clones. Its slot is another one than this.
        let template = template.ok_or(Reason::WrongTime)?.0.lock();
        // Once it has run, its data are no longer what was measured.
        if !template.is_pristine && Configured::PRISTINE.is_made() {
            return Err(Reason::WrongTime);
        }
        let (mut copies, mut shares, mut looks) = (0, 0, LOOKS_PER_SLICE);
        while copies < COPIES_PER_SLICE && shares < SHARES_PER_SLICE {
            let next = space::next_page(memory, template.root, state.reached, &mut looks);
            let (va, leaf) = match next {
                Next::Page(va, leaf) => (va, leaf),
                Next::Later(va) => {
                    state.reached = va;
                    break;
                }
                Next::None => {
                    (state.entry, state.stack) = (template.entry, template.stack);
                    state.measurement = template.measurement;
                    state.phase = Phase::Idle;
                    memory.perform(Step::BarrierStore);
                    return Ok(true);
                }
            };
            let frame = leaf.output();
            // Pages that the template shares with Linux are the template's affair.
            if private.owner(frame).is_some() {
                let entry = space::entry_for(memory, &mut state, owner, private, va)?;
                if leaf.0 & bits::READ_ONLY != 0 || !Configured::CLONE.is_made() {
                    entry.write(memory, leaf);
                    shares += 1;
                } else {
                    let to = space::take(&mut state, owner, private)?;
                    memory.copy_frame(frame.as_u64(), to.as_u64());
                    space::map(memory, entry, to, Access::Write);
                    copies += 1;
                }
            } else {
                shares += 1;
            }
            state.reached = va.after(1);
        }
        memory.perform(Step::BarrierStore);
        Ok(false)
    }

    /// A clone is gone.
    pub(super) fn release_template(&self, template: u32) {
        if template != NONE
            && let Some(slot) = self.slots.get(template as usize)
        {
            let mut state = slot.0.lock();
            state.clones = state.clones.saturating_sub(1);
        }
    }
}
