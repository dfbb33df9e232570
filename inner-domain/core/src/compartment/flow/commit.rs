// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host commits to segments, and ends the transcript.

use donjon_abi::call::Reason;
use donjon_abi::flow::{
    End, EndReason, FLOW_REPORT, KIND_OF_REPORT_SHIFT, MESSAGE, Message, Segment,
};
use sha2::Digest;

use super::Closed;
use crate::checks::{Checks, Configured};
use crate::compartment::attestation::{BYTES, DATA, Subject};
use crate::compartment::{Compartments, Guard, Handle, Memory, Phase, State};

impl Compartments<'_> {
    /// Binds the digest of the segment that is closed, and shows the segment: the message with its
    /// states. It can be read once.
    ///
    /// # Errors
    ///
    /// [`Reason::WrongTime`] if no segment waits for its commit; [`Reason::InUse`] while the
    /// compartment runs.
    pub fn commit<M: Memory>(
        &self,
        memory: &mut M,
        handle: Handle,
        digest: [u8; 32],
    ) -> Result<[u8; MESSAGE], Reason> {
        let Guard { mut state, .. } = self.of_stopped(handle)?;
        let flow = memory.flow(state.context.as_u64());
        if flow.is_closed == 0 {
            return Err(Reason::WrongTime);
        }
        let Closed {
            first,
            last,
            words,
            path,
            pc,
        } = flow.closed;
        let message = Message::Segment(Segment {
            index: flow.segments,
            first,
            last,
            words,
            path,
            pc,
            digest,
        })
        .to_bytes();
        if !Configured::FLOW_COMMIT.is_made() && digest == [0; 32] {
            // Shows the states, and binds nothing.
            return Ok(message);
        }
        flow.is_closed = 0;
        flow.closed = Closed::default();
        flow.segments += 1;
        state.hash.update(message);
        Ok(message)
    }

    /// Ends the transcript of a run that is over, or that is cut with this: the last message.
    ///
    /// # Errors
    ///
    /// [`Reason::WrongTime`] while a segment waits for its commit, and if it has ended before;
    /// [`Reason::InUse`] while the compartment runs.
    pub fn end_transcript<M: Memory>(
        &self,
        memory: &mut M,
        handle: Handle,
    ) -> Result<[u8; MESSAGE], Reason> {
        let Guard { mut state, .. } = self.of_stopped(handle)?;
        let flow = memory.flow(state.context.as_u64());
        if flow.is_closed != 0 || flow.is_ended != 0 {
            return Err(Reason::WrongTime);
        }
        flow.give_up(EndReason::Cut);
        let message = Message::End(End {
            segments: flow.segments,
            reason: flow.reason,
            esr: flow.esr,
            word: flow.word,
            data: flow.data,
        })
        .to_bytes();
        let State { hash, phase, .. } = &mut *state;
        *phase = Phase::AttestedOver;
        hash.update(message);
        flow.digest = core::mem::take(hash).finalize().into();
        flow.is_ended = 1;
        Ok(message)
    }

    /// What the report about a run is about: the program, and nonce and transcript. The kind of
    /// report stands above the limit, where no program's own report has a bit.
    ///
    /// # Errors
    ///
    /// [`Reason::WrongTime`] before the transcript has ended; [`Reason::InUse`] while the
    /// compartment runs.
    pub fn flow_subject<M: Memory>(
        &self,
        memory: &mut M,
        handle: Handle,
    ) -> Result<Subject, Reason> {
        let Guard { state, .. } = self.of_stopped(handle)?;
        let flow = memory.flow(state.context.as_u64());
        if flow.is_ended == 0 {
            return Err(Reason::WrongTime);
        }
        let mut data = [0; DATA];
        let (nonce, digest) = data.split_at_mut(BYTES);
        nonce.copy_from_slice(&flow.nonce);
        digest.copy_from_slice(&flow.digest);
        Ok(Subject {
            measurement: state.measurement,
            limit: state.limit | FLOW_REPORT << KIND_OF_REPORT_SHIFT,
            data,
        })
    }

    /// A compartment under flow attestation that does not run.
    fn of_stopped(&self, handle: Handle) -> Result<Guard<'_>, Reason> {
        let guard = self.of(handle)?;
        match guard.state.phase {
            Phase::AttestedRunning(_) => Err(Reason::InUse),
            Phase::AttestedReady | Phase::AttestedSuspended { .. } | Phase::AttestedOver => {
                Ok(guard)
            }
            _ => Err(Reason::WrongTime),
        }
    }
}
