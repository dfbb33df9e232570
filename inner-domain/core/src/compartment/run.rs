// SPDX-License-Identifier: MIT OR Apache-2.0
//! A CPU enters a compartment and leaves it.

use crate::checks::{Checks, Configured};
use donjon_abi::call::{CompartmentExit, Reason};

use donjon_abi::flow::EndReason;

use super::{Compartments, Guard, Handle, Memory, Phase, State};

/// How a compartment goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// A call begins, at this PC and with this SP.
    Begin {
        /// Address of the first instruction.
        pc: u64,
        /// End of the stack.
        sp: u64,
    },
    /// The call goes on with an answer of the host's.
    Answer,
    /// The call goes on where it was interrupted.
    GoOn,
    /// The only call of a compartment under flow attestation begins:
    /// [`begin_attested`](Compartments::begin_attested) says how.
    BeginAttested,
}

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
    /// How it goes on.
    pub how: How,
}

impl Compartments<'_> {
    /// Enters a compartment on the CPU `cpu`, the caller's own: it runs from now on.
    ///
    /// # Errors
    ///
    /// [`Reason::WrongTime`] before it is sealed, when it is dead, and while the words of a full
    /// log wait for their commit; [`Reason::InUse`] while it runs, here or elsewhere, and when the
    /// machine stops.
    #[inline]
    pub fn enter<M: Memory>(
        &self,
        memory: &mut M,
        handle: Handle,
        cpu: usize,
    ) -> Result<Entry, Reason> {
        let Guard { mut state, .. } = self.of(handle)?;
        let here = Phase::Running(cpu);
        let begin = How::Begin {
            pc: state.entry.as_u64(),
            sp: state.stack.as_u64(),
        };
        // The most frequent one first.
        let (phase, how) = if state.phase == Phase::Idle {
            (here, begin)
        } else {
            match state.phase {
                Phase::Suspended { called_out: true } => (here, How::Answer),
                Phase::Suspended { called_out: false } => (here, How::GoOn),
                Phase::Running(_) if !Configured::RUNNING.is_made() => (here, begin),
                Phase::Running(_) => return Err(Reason::InUse),
                _ => enter_attested(memory, &state, cpu)?,
            }
        };
        self.note_running(cpu)?;
        state.phase = phase;
        state.is_pristine = false;
        Ok(Entry {
            context: state.context.as_u64(),
            root: state.root.as_u64(),
            tag: state.tag,
            how,
        })
    }

    /// Leaves the compartment that this CPU entered last: it runs no more. After
    /// [`CompartmentExit::Ended`] and [`CompartmentExit::Faulted`] it never runs again.
    #[inline]
    pub fn leave<M: Memory>(
        &self,
        memory: &mut M,
        handle: Handle,
        cpu: usize,
        exit: CompartmentExit,
    ) {
        if let Ok(Guard { mut state, .. }) = self.of(handle) {
            if state.phase == Phase::Running(cpu) {
                state.phase = match exit {
                    CompartmentExit::Returned => Phase::Idle,
                    CompartmentExit::Interrupted => Phase::Suspended { called_out: false },
                    CompartmentExit::CalledOut => Phase::Suspended { called_out: true },
                    CompartmentExit::Ended
                    | CompartmentExit::Faulted
                    | CompartmentExit::LogFull => Phase::Dead,
                };
            } else if state.phase == Phase::AttestedRunning(cpu) {
                leave_attested(memory, &mut state, exit);
            }
        }
        self.note_left(cpu);
    }
}

#[cold]
#[inline(never)]
fn enter_attested<M: Memory>(
    memory: &mut M,
    state: &State,
    cpu: usize,
) -> Result<(Phase, How), Reason> {
    let how = match state.phase {
        Phase::AttestedReady => How::BeginAttested,
        Phase::AttestedSuspended { called_out } => {
            if memory.flow(state.context.as_u64()).is_closed() && Configured::FLOW_COMMIT.is_made()
            {
                return Err(Reason::WrongTime);
            }
            if called_out { How::Answer } else { How::GoOn }
        }
        Phase::AttestedRunning(_) => return Err(Reason::InUse),
        _ => return Err(Reason::WrongTime),
    };
    Ok((Phase::AttestedRunning(cpu), how))
}

#[cold]
#[inline(never)]
fn leave_attested<M: Memory>(memory: &mut M, state: &mut State, exit: CompartmentExit) {
    state.phase = match exit {
        CompartmentExit::Interrupted | CompartmentExit::LogFull => {
            Phase::AttestedSuspended { called_out: false }
        }
        CompartmentExit::CalledOut => Phase::AttestedSuspended { called_out: true },
        CompartmentExit::Returned => {
            // Of its registers x0 alone was kept: the state is lost.
            let flow = memory.flow(state.context.as_u64());
            flow.give_up(EndReason::Broken);
            Phase::AttestedOver
        }
        CompartmentExit::Ended | CompartmentExit::Faulted => {
            memory.flow(state.context.as_u64()).give_up(EndReason::Cut);
            Phase::AttestedOver
        }
    };
}
