// SPDX-License-Identifier: MIT OR Apache-2.0
//! A compartment is put under flow attestation.

use donjon_abi::call::Reason;
use donjon_abi::flow::{LOG, LOG_PAGES_MAX, Message, Start};
use sha2::{Digest, Sha256};

use super::Flow;
use crate::checks::{Checks, Configured};
use crate::compartment::build::may_be_given;
use crate::compartment::space::{self, Access};
use crate::compartment::{Compartments, Guard, Handle, Memory, NONE, Phase};
use crate::memory::private::Private;
use crate::translation::address::UserAddress;
use crate::translation::frames::FrameTable;
use crate::translation::{RawDescriptor, Step};

/// The first page of a log.
const FIRST: UserAddress = match UserAddress::new(LOG) {
    Some(first) => first,
    None => panic!("beyond the addresses of users"),
};

impl Compartments<'_> {
    /// Puts a compartment under flow attestation that is sealed, has not run, is no clone and has
    /// none. Its only call will have these arguments, and begins with the state `first`, which is
    /// random.
    ///
    /// # Errors
    ///
    /// [`Reason::WrongTime`] for any other compartment.
    pub fn attest<M: Memory>(
        &self,
        memory: &mut M,
        handle: Handle,
        (nonce, arguments): ([u8; 32], [u64; 4]),
        first: [u64; 4],
    ) -> Result<(), Reason> {
        let Guard { mut state, .. } = self.of_phase(handle, Phase::Idle)?;
        let is_pristine = state.is_pristine || !Configured::PRISTINE.is_made();
        if !is_pristine || state.template != NONE || state.clones > 0 {
            return Err(Reason::WrongTime);
        }
        let start = Start {
            measurement: state.measurement,
            nonce,
            arguments,
        };
        state.hash = Sha256::new();
        state.hash.update(Message::Start(start).to_bytes());
        *memory.flow(state.context.as_u64()) = Flow {
            nonce,
            arguments,
            first,
            ..Flow::default()
        };
        state.is_pristine = false;
        state.phase = Phase::AttestedReady;
        Ok(())
    }

    /// Adds a frame of Linux's to the end of a log: how many pages it has.
    ///
    /// # Errors
    ///
    /// [`Reason::WrongTime`] unless the compartment is ready, [`Reason::OverLimit`] for a log of
    /// [`LOG_PAGES_MAX`] pages or a compartment with as many frames as it may have,
    /// [`Reason::WrongFrame`] for a frame that is not ordinary, [`Reason::NoRoom`].
    pub fn extend_log<M: Memory>(
        &self,
        memory: &mut M,
        (frames, private): (&FrameTable<'_>, &mut Private<'_>),
        handle: Handle,
        frame: u64,
    ) -> Result<u64, Reason> {
        let Guard { mut state, owner } = self.of_phase(handle, Phase::AttestedReady)?;
        let pages = memory.flow(state.context.as_u64()).pages;
        if pages >= LOG_PAGES_MAX {
            return Err(Reason::OverLimit);
        }
        let given = may_be_given(frames, frame).ok_or(Reason::WrongFrame)?;
        let va = FIRST.after(pages);
        let entry = space::entry_for(memory, &mut state, owner, private, va)?;
        if entry.read(memory) != RawDescriptor::INVALID && Configured::FLOW_PLACE.is_made() {
            return Err(Reason::BadEntry);
        }
        if !private.share(given) {
            return Err(Reason::OverLimit);
        }
        // The compartment has not run: no TLB holds this address.
        space::map(memory, entry, given, Access::Write);
        memory.perform(Step::BarrierStore);
        memory.flow(state.context.as_u64()).pages = pages + 1;
        Ok(pages + 1)
    }
}
