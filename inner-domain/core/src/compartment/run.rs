// SPDX-License-Identifier: MIT OR Apache-2.0
//! A CPU enters a compartment and leaves it.

use donjon_abi::call::{CompartmentExit, Reason};

use super::{Compartments, Guard, Handle, Phase};
use crate::weaken;

/// What is needed to enter a compartment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Physical address of the frame with its registers.
    pub context: u64,
    /// Physical address of its root.
    pub root: u64,
    /// What the CPU's TLB may hold under the compartments' ASID is this compartment's if the CPU
    /// entered one with the same tag last.
    pub tag: u64,
    /// Where a call begins and its stack; none where one goes on.
    pub begin: Option<(u64, u64)>,
    /// Whether it goes on with an answer of its host's.
    pub called_out: bool,
}

impl Compartments<'_> {
    /// Enters a compartment on the CPU `cpu`, the caller's own: it runs from now on.
    ///
    /// # Errors
    ///
    /// [`Reason::WrongTime`] before it is sealed and when it is dead; [`Reason::InUse`] while it
    /// runs, here or elsewhere, and when the machine stops.
    #[inline]
    pub fn enter(&self, handle: Handle, cpu: usize) -> Result<Entry, Reason> {
        let Guard { mut state, .. } = self.of(handle)?;
        let (begin, called_out) = match state.phase {
            Phase::Idle => (Some((state.entry, state.stack)), false),
            Phase::Suspended { called_out } => (None, called_out),
            Phase::Running(_) if weaken::RUNNING => (Some((state.entry, state.stack)), false),
            Phase::Running(_) => return Err(Reason::InUse),
            _ => return Err(Reason::WrongTime),
        };
        self.note_running(cpu)?;
        state.phase = Phase::Running(cpu);
        state.is_pristine = false;
        Ok(Entry {
            context: state.context,
            root: state.root,
            tag: state.tag,
            begin,
            called_out,
        })
    }

    /// Leaves the compartment that this CPU entered last: it runs no more. After
    /// [`CompartmentExit::Ended`] and [`CompartmentExit::Faulted`] it never runs again.
    #[inline]
    pub fn leave(&self, handle: Handle, cpu: usize, exit: CompartmentExit) {
        if let Ok(Guard { mut state, .. }) = self.of(handle)
            && state.phase == Phase::Running(cpu)
        {
            state.phase = match exit {
                CompartmentExit::Returned => Phase::Idle,
                CompartmentExit::Interrupted => Phase::Suspended { called_out: false },
                CompartmentExit::CalledOut => Phase::Suspended { called_out: true },
                CompartmentExit::Ended | CompartmentExit::Faulted => Phase::Dead,
            };
        }
        self.note_left(cpu);
    }
}
