// SPDX-License-Identifier: MIT OR Apache-2.0
//! A compartment is made, filled and sealed.

use donjon_abi::call::Reason;
use donjon_abi::flow::KIND_OF_REPORT_SHIFT;
use donjon_abi::layout::PAGE_SIZE;
use sha2::{Digest, Sha256};

use super::endpoint::End;
use super::space::{self, Access};
use super::{Compartments, END, ENDS, Guard, Handle, Memory, NONE, Phase};
use crate::checks::{Checks, Configured};
use crate::memory::private::{Owner, Private};
use crate::translation::address::UserAddress;
use crate::translation::frames::{FrameTable, FrameType};
use crate::translation::{EntryAddress, FrameAddress, Hardware, RawDescriptor, Step};
use crate::without;

mod without;

/// Bytes that are copied and measured in one call: SHA-256 takes some 2,500 instructions for 64.
pub const PIECE: usize = 256;

/// Fewest frames that make sense: root, registers, three tables and a page.
const LEAST_FRAMES: u64 = 6;

/// A page on its way into a compartment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addition {
    va: UserAddress,
    access: Access,
    /// Where its bytes come from, and where they go.
    from: FrameAddress,
    pub(super) to: FrameAddress,
    entry: EntryAddress,
    done: u64,
}

/// The frame at an address, if Linux may name it as one that a compartment copies or shares.
pub(super) fn may_be_given(frames: &FrameTable<'_>, address: u64) -> Option<FrameAddress> {
    let is_ordinary = frames.get(address) == Some(FrameType::Ordinary);
    FrameAddress::new(address).filter(|_| is_ordinary || !Configured::SHARE.is_made())
}

impl Compartments<'_> {
    /// Makes an empty compartment that may have up to `limit` frames.
    ///
    /// # Errors
    ///
    /// [`Reason::OverLimit`] for a limit that is too small or not below 2^32, and without a slot,
    /// [`Reason::NoRoom`] without private memory.
    pub fn create(&self, private: &mut Private<'_>, limit: u64) -> Result<Handle, Reason> {
        self.create_from(private, limit, NONE)
    }

    /// Makes an empty compartment of at most `limit` frames, a clone of the one in slot `template`,
    /// or of none ([`NONE`]).
    pub(super) fn create_from(
        &self,
        private: &mut Private<'_>,
        limit: u64,
        template: u32,
    ) -> Result<Handle, Reason> {
        let has_kind = limit >> KIND_OF_REPORT_SHIFT != 0 && Configured::FLOW_KIND.is_made();
        if limit < LEAST_FRAMES || has_kind {
            return Err(Reason::OverLimit);
        }
        // The caller holds the lock of the pools, so what is free stays free.
        if private.free() < 2 {
            return Err(Reason::NoRoom);
        }
        let (index, mut state) = self.take_vacant().ok_or(Reason::OverLimit)?;
        let owner = Owner::compartment(index);
        let shared = (!Configured::TREE.is_made())
            .then(|| self.any_root())
            .flatten();
        let root = shared.or_else(|| private.take(owner));
        let root = root.ok_or(Reason::NoRoom)?;
        let context = private.take(owner).ok_or(Reason::NoRoom)?;
        state.generation = state.generation.wrapping_add(1).max(1);
        state.phase = Phase::Building;
        (state.root, state.context) = (root, context);
        self.note_root(index, root);
        (state.frames, state.limit) = (2, limit);
        state.heap = 0;
        state.tag = self.tag();
        state.hash = Sha256::default();
        state.addition = None;
        state.measurement = [0; 32];
        state.is_pristine = false;
        (state.clones, state.template) = (0, template);
        state.reached = UserAddress::ZERO;
        state.ends = [End::NONE; ENDS];
        Ok(Handle::new(index, state.generation))
    }

    /// Adds a page, a piece in each call; true when it is complete. Its bytes come from a frame of
    /// ordinary memory. Code, data and addresses go into the measurement in the order of the calls.
    ///
    /// # Errors
    ///
    /// [`Reason::WrongTime`] once it is sealed or while another page is being added,
    /// [`Reason::BadEntry`] for an address that is no page's or has one, [`Reason::WrongFrame`] for
    /// a source that is not ordinary, [`Reason::OverLimit`] and [`Reason::NoRoom`].
    pub fn add<M: Memory>(
        &self,
        memory: &mut M,
        (frames, private): (&FrameTable<'_>, &mut Private<'_>),
        handle: Handle,
        (va, access, from): (u64, Access, u64),
    ) -> Result<bool, Reason> {
        let Guard { mut state, owner } = self.of(handle)?;
        let is_after_seal = !Configured::SEAL.is_made() && state.phase == Phase::Idle;
        if state.phase != Phase::Building && !is_after_seal || state.template != NONE {
            return Err(Reason::WrongTime);
        }
        let from = may_be_given(frames, from).ok_or(Reason::WrongFrame)?;
        let mut addition = match state.addition {
            Some(it) if (it.va.as_u64(), it.access, it.from) == (va, access, from) => it,
            Some(_) => return Err(Reason::WrongTime),
            None => {
                let va = space::may_be_filled(va).ok_or(Reason::BadEntry)?;
                let entry = space::entry_for(memory, &mut state, owner, private, va)?;
                if entry.read(memory) != RawDescriptor::INVALID {
                    return Err(Reason::BadEntry);
                }
                let to = space::take(&mut state, owner, private)?;
                state.hash.update(va.as_u64().to_le_bytes());
                state.hash.update((access as u64).to_le_bytes());
                Addition {
                    va,
                    access,
                    from,
                    to,
                    entry,
                    done: 0,
                }
            }
        };
        let mut seen = [0; PIECE];
        let (from, to) = (from.byte(addition.done), addition.to.byte(addition.done));
        memory.copy_in(from, to, &mut seen);
        state.hash.update(seen);
        without!(READ_ONCE, without::copy_changed(memory, &addition, &seen));
        addition.done += PIECE as u64;
        if addition.done < PAGE_SIZE {
            state.addition = Some(addition);
            return Ok(false);
        }
        state.addition = None;
        if access == Access::Execute {
            memory.make_executable(addition.to.as_u64());
        }
        space::map(memory, addition.entry, addition.to, access);
        memory.perform(Step::BarrierStore);
        Ok(true)
    }

    /// Maps a frame of Linux's own for reading and writing, never for execution. Frames are shared
    /// while a compartment is built, or between calls.
    ///
    /// # Errors
    ///
    /// Those of [`add`](Self::add).
    pub fn share<H: Hardware>(
        &self,
        hw: &mut H,
        (frames, private): (&FrameTable<'_>, &mut Private<'_>),
        handle: Handle,
        (va, frame): (u64, u64),
    ) -> Result<(), Reason> {
        let Guard { mut state, owner } = self.of(handle)?;
        let is_clone = state.phase == Phase::Building && state.template != NONE;
        if !matches!(state.phase, Phase::Building | Phase::Idle) || is_clone {
            return Err(Reason::WrongTime);
        }
        let va = space::may_be_filled(va).ok_or(Reason::BadEntry)?;
        let given = may_be_given(frames, frame).ok_or(Reason::WrongFrame)?;
        let entry = space::entry_for(hw, &mut state, owner, private, va)?;
        let is_vacant = entry.read(hw) == RawDescriptor::INVALID;
        if !is_vacant || state.addition.is_some_and(|it| it.entry == entry) {
            return Err(Reason::BadEntry);
        }
        let is_counted =
            Configured::SHARE.is_made() || frames.get(frame) == Some(FrameType::Ordinary);
        if is_counted && !private.share(given) {
            return Err(Reason::OverLimit);
        }
        space::map(hw, entry, given, Access::Write);
        hw.perform(Step::BarrierStore);
        Ok(())
    }

    /// Nothing is added from now on. `entry` and `stack` go into the measurement as well.
    ///
    /// # Errors
    ///
    /// [`Reason::WrongTime`] when it is sealed already or a page is being added,
    /// [`Reason::BadEntry`] for an address beyond the end.
    pub fn seal(&self, handle: Handle, entry: u64, stack: u64) -> Result<(), Reason> {
        let Guard { mut state, .. } = self.of_phase(handle, Phase::Building)?;
        if state.addition.is_some() || state.template != NONE {
            return Err(Reason::WrongTime);
        }
        let start = UserAddress::new(entry).filter(|it| it.is_aligned(4) && entry < END);
        let end = UserAddress::new(stack).filter(|it| it.is_aligned(16) && stack <= END);
        let (Some(start), Some(end)) = (start, end) else {
            return Err(Reason::BadEntry);
        };
        let limit = state.limit;
        for word in [entry, stack, limit] {
            state.hash.update(word.to_le_bytes());
        }
        state.measurement = core::mem::take(&mut state.hash).finalize().into();
        (state.entry, state.stack) = (start, end);
        state.is_pristine = true;
        state.phase = Phase::Idle;
        Ok(())
    }
}
