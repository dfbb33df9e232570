// SPDX-License-Identifier: MIT OR Apache-2.0
//! A compartment under flow attestation runs: how it is entered, and what becomes of the open
//! segment when it is left.

use donjon_abi::call::{CompartmentExit, Outcome, Reason};
use donjon_abi::flow::{EndReason, LOG};
use donjon_abi::layout::PAGE_SIZE;

use super::{Closed, Flow};
use crate::compartment::{Compartments, Guard, Handle, Memory, Phase};

/// With what the call of a compartment under flow attestation begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begin {
    /// PC and SP.
    pub place: (u64, u64),
    /// x0 to x3.
    pub arguments: [u64; 4],
    /// x22 to x25.
    pub state: [u64; 4],
}

/// Registers of a compartment that was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// x22 to x25: the state.
    pub state: [u64; 4],
    /// x27: the cursor.
    pub cursor: u64,
    /// x28: path bits.
    pub path: u64,
    /// Address of the next instruction.
    pub pc: u64,
}

/// Why a compartment was left for good, or because its log is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// An exception with this `ESR_EL1` and `FAR_EL1`.
    Exception {
        /// What happened.
        esr: u64,
        /// The address that was accessed.
        far: u64,
    },
    /// The request EXIT with this word; the PC is behind it.
    Exit(u64),
    /// The request FLOW_END; the PC is behind it.
    End(Outcome),
    /// An SError. Where it happened is not known.
    Error,
}

/// What became of a compartment under flow attestation that was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// How it was left.
    pub exit: CompartmentExit,
    /// Words of the segment that is closed now; 0 if none is.
    pub words: u64,
    /// What x22 to x25 have to become where the log is full; x27 becomes [`LOG`] then.
    pub next: Option<[u64; 4]>,
}

/// A data abort from EL0 in `ESR_EL1`, and its bit for writes (D24.2.40).
const DATA_ABORT: u64 = 0x24;
const IS_WRITE: u64 = 1 << 6;

impl Compartments<'_> {
    /// With what the call of a compartment begins that was just entered with
    /// [`How::BeginAttested`](crate::compartment::How::BeginAttested).
    ///
    /// # Errors
    ///
    /// [`Reason::WrongTime`] if it does not run under flow attestation on this CPU.
    pub fn begin_attested<M: Memory>(
        &self,
        memory: &mut M,
        (handle, cpu): (Handle, usize),
    ) -> Result<Begin, Reason> {
        let Guard { state, .. } = self.of_phase(handle, running(cpu))?;
        let flow = memory.flow(state.context.as_u64());
        Ok(Begin {
            place: (state.entry.as_u64(), state.stack.as_u64()),
            arguments: flow.arguments,
            state: flow.first,
        })
    }

    /// Decides what becomes of the open segment of a compartment that was left, if that is under
    /// flow attestation. `draw` gives a random state.
    ///
    /// `None`: the compartment is not under flow attestation.
    pub fn stop_attested<M: Memory>(
        &self,
        memory: &mut M,
        (handle, cpu): (Handle, usize),
        (stop, cause): (Stop, Cause),
        draw: impl FnOnce() -> Option<[u64; 4]>,
    ) -> Option<Stopped> {
        let Guard { state, .. } = self.of_phase(handle, running(cpu)).ok()?;
        let flow = memory.flow(state.context.as_u64());
        if flow.is_full(&stop, cause)
            && let Some(next) = draw()
        {
            flow.close(&stop);
            flow.first = next;
            return Some(Stopped {
                exit: CompartmentExit::LogFull,
                words: flow.closed.words,
                next: Some(next),
            });
        }
        flow.end(stop, cause);
        let exit = match cause {
            Cause::Exit(_) | Cause::End(_) => CompartmentExit::Ended,
            Cause::Exception { .. } | Cause::Error => CompartmentExit::Faulted,
        };
        Some(Stopped {
            exit,
            words: flow.closed.words,
            next: None,
        })
    }
}

impl Flow {
    /// End of the log, in the compartment.
    const fn log_end(&self) -> u64 {
        LOG + self.pages * PAGE_SIZE
    }

    /// Whether the cursor is one that a program of the right form has.
    fn has_cursor(&self, cursor: u64) -> bool {
        cursor.is_multiple_of(8) && (LOG..=self.log_end()).contains(&cursor)
    }

    /// Whether the program was left because it stored a word behind the end of its log. The words
    /// that it stored before are a segment then, and the store is repeated in the next one: a store
    /// that takes a data abort leaves its base register as it was (DDI 0487, D1.3.4).
    fn is_full(&self, stop: &Stop, cause: Cause) -> bool {
        let Cause::Exception { esr, far } = cause else {
            return false;
        };
        let is_store = esr >> 26 & 0x3f == DATA_ABORT && esr & IS_WRITE != 0;
        is_store && self.pages > 0 && far == stop.cursor && far == self.log_end()
    }

    /// Closes the open segment.
    fn close(&mut self, stop: &Stop) {
        self.closed = Closed {
            first: self.first,
            last: stop.state,
            words: (stop.cursor - LOG) / 8,
            path: stop.path,
            pc: stop.pc,
        };
        self.is_closed = 1;
    }

    /// Notes how the run ended, and closes the open segment where its end is known.
    fn end(&mut self, mut stop: Stop, cause: Cause) {
        let reason = match cause {
            Cause::Error => EndReason::Cut,
            _ if !self.has_cursor(stop.cursor) => EndReason::Broken,
            Cause::Exception { esr, .. } => {
                self.esr = esr;
                EndReason::Faulted
            }
            Cause::Exit(word) => {
                self.word = word;
                stop.pc = stop.pc.wrapping_sub(4);
                EndReason::Exited
            }
            Cause::End(Outcome { word, data }) => {
                (self.word, self.data) = (word, data);
                EndReason::Finished
            }
        };
        self.reason = reason as u64;
        if !matches!(reason, EndReason::Cut | EndReason::Broken) {
            self.close(&stop);
        }
    }

    /// Whether a closed segment waits for its commit.
    pub(in crate::compartment) const fn is_closed(&self) -> bool {
        self.is_closed != 0
    }

    /// Notes that the run is over, unless its end is known: the open segment is lost.
    pub(in crate::compartment) fn give_up(&mut self, reason: EndReason) {
        if self.reason == 0 {
            self.reason = reason as u64;
        }
    }
}

const fn running(cpu: usize) -> Phase {
    Phase::AttestedRunning(cpu)
}
