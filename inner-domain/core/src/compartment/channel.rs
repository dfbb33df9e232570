// SPDX-License-Identifier: MIT OR Apache-2.0
//! Channels: bytes from one compartment to a second, which Linux does not see.
//!
//! A channel has two ends. What is sent at one waits in a private frame of the receiving
//! compartment, the inbox of its end, until the compartment receives it. Linux says which
//! compartments are joined, so a compartment that wants to know asks for the measurement of its
//! peer.

use donjon_abi::call::Reason;
use donjon_abi::layout::PAGE_SIZE;

use super::endpoint::{ENDS, End};
use super::space::{self, take};
use super::{Compartments, Guard, Handle, Memory, Phase, State};
use crate::checks::{Checks, Configured};
use crate::memory::private::Private;
use crate::translation::address::{PhysicalAddress, UserAddress};
use crate::translation::{FrameAddress, Hardware, bits};

/// Most bytes that are sent, or received, at once. Copied byte by byte, where addresses do not
/// suit, they take some 6,000 instructions.
pub const MESSAGE_MAX: u64 = 1024;
/// Most bytes that wait at an end.
pub const INBOX: u64 = PAGE_SIZE;

/// What came of sending or receiving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// How many bytes.
    pub bytes: u64,
    /// Whether the other compartment is still there.
    pub is_open: bool,
}

/// A piece of memory that is in one frame: its address and how many bytes.
type Piece = (PhysicalAddress, u64);

/// Where the bytes at an address of a compartment's are, which lie in two pages at most. None if
/// one of these is not mapped, or not writable and has to be.
fn pieces<H: Hardware>(
    hw: &H,
    root: FrameAddress,
    (va, bytes): (UserAddress, u64),
    written: bool,
) -> Option<[Piece; 2]> {
    let start = va.as_u64();
    let end = start.checked_add(bytes).filter(|end| *end <= super::END)?;
    let border = if Configured::MESSAGE.is_made() {
        (start + PAGE_SIZE) & !(PAGE_SIZE - 1)
    } else {
        end
    };
    let place = |from: u64, to: u64| {
        if from >= to {
            return Some((PhysicalAddress::ZERO, 0));
        }
        let leaf = space::entry_of(hw, root, UserAddress::new(from)?)?.read(hw);
        let refused = written && leaf.0 & bits::READ_ONLY != 0 && Configured::MESSAGE.is_made();
        if !leaf.is_valid() || refused {
            return None;
        }
        let offset = from & (PAGE_SIZE - 1);
        let page = PhysicalAddress::from_field(leaf.0, bits::OUTPUT_ADDRESS);
        Some((page.within(offset), to - from))
    };
    Some([place(start, end.min(border))?, place(border, end)?])
}

/// Whether a compartment can still be sent something.
const fn is_alive(phase: Phase) -> bool {
    !matches!(
        phase,
        Phase::Vacant | Phase::Dead | Phase::Ending | Phase::AttestedOver
    )
}

impl State {
    /// The other end of end `number` of a compartment, unless it is not there yet, or no more.
    fn other_end(&mut self, handle: Handle, number: u64, end: End) -> Option<&mut End> {
        if !is_alive(self.phase) {
            return None;
        }
        let there = self.ends.get_mut(usize::from(end.peer_end))?;
        there.is_of(handle, number).then_some(there)
    }
}

impl End {
    /// Whether this is the other end of end `number` of a compartment. The handle alone would not
    /// do: numbers of handles come again after four thousand million compartments in one slot.
    fn is_of(&self, handle: Handle, number: u64) -> bool {
        let is_joined = self.peer == handle && u64::from(self.peer_end) == number;
        self.inbox != FrameAddress::NONE && (is_joined || !Configured::HANDLE.is_made())
    }
}

impl Compartments<'_> {
    /// Joins two compartments by a channel; the numbers of its ends. Each has one frame more.
    ///
    /// # Errors
    ///
    /// [`Reason::InUse`] for a compartment and itself, [`Reason::WrongTime`] for one that is dead
    /// or not sealed, [`Reason::OverLimit`] for one with [`ENDS`] ends or as many frames as it may
    /// have, [`Reason::NoRoom`].
    pub fn connect(
        &self,
        private: &mut Private<'_>,
        one: Handle,
        other: Handle,
    ) -> Result<(usize, usize), Reason> {
        // The caller holds the lock of the pools. Ends, and how many frames there are, change under
        // that lock alone, so both are still as they are here.
        let first = self.room(one)?;
        let second = self.room(other)?;
        if one == other {
            return Err(Reason::InUse);
        }
        if private.free() < 2 {
            return Err(Reason::NoRoom);
        }
        self.open(private, (one, first), (other, second))?;
        self.open(private, (other, second), (one, first))?;
        Ok((first, second))
    }

    /// The number of an end that a compartment has room for.
    fn room(&self, handle: Handle) -> Result<usize, Reason> {
        let Guard { state, .. } = self.of(handle)?;
        // Its measurement is final.
        if !is_alive(state.phase) || state.phase == Phase::Building {
            return Err(Reason::WrongTime);
        }
        let end = state
            .ends
            .iter()
            .position(|it| it.inbox == FrameAddress::NONE);
        end.filter(|_| state.frames < state.limit)
            .ok_or(Reason::OverLimit)
    }

    fn open(
        &self,
        private: &mut Private<'_>,
        (handle, end): (Handle, usize),
        (peer, peer_end): (Handle, usize),
    ) -> Result<(), Reason> {
        let Guard { mut state, owner } = self.of(handle)?;
        let inbox = take(&mut state, owner, private)?;
        state.ends[end] = End {
            peer,
            peer_end: peer_end as u8,
            inbox,
            ..End::NONE
        };
        Ok(())
    }

    /// The compartment that runs on this CPU sends bytes of its memory, as many as there is room
    /// for at the other end and [`MESSAGE_MAX`] at most.
    ///
    /// # Errors
    ///
    /// [`Reason::WrongTime`] if it does not run here, [`Reason::BadEntry`] without such an end, or
    /// where it cannot read all of them itself.
    pub fn send<M: Memory>(
        &self,
        memory: &mut M,
        (handle, cpu): (Handle, usize),
        number: u64,
        (va, bytes): (u64, u64),
    ) -> Result<Moved, Reason> {
        let (root, end) = self.end(handle, cpu, number)?;
        let bytes = bytes.min(MESSAGE_MAX);
        // Its tables change by its own calls alone, of which this is one.
        let va = UserAddress::new(va).ok_or(Reason::BadEntry)?;
        let from = pieces(memory, root, (va, bytes), false).ok_or(Reason::BadEntry)?;
        let mut moved = Moved {
            bytes: 0,
            is_open: false,
        };
        let Ok(Guard { mut state, .. }) = self.of(end.peer) else {
            return Ok(moved);
        };
        let Some(there) = state.other_end(handle, number, end) else {
            return Ok(moved);
        };
        moved.is_open = true;
        for (mut at, mut left) in from {
            while left > 0 && u64::from(there.waiting) < INBOX {
                let place = u64::from(there.first + there.waiting) % INBOX;
                let room = INBOX - u64::from(there.waiting);
                let count = left.min(room).min(INBOX - place);
                memory.copy(at.as_u64(), there.inbox.byte(place), count);
                there.waiting += count as u16;
                (at, left) = (at.within(count), left - count);
                moved.bytes += count;
            }
        }
        Ok(moved)
    }

    /// The compartment that runs on this CPU receives bytes into its memory, as many as there are.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Self::send); also where the compartment cannot write all of that memory
    /// itself.
    pub fn receive<M: Memory>(
        &self,
        memory: &mut M,
        (handle, cpu): (Handle, usize),
        end: u64,
        (va, bytes): (u64, u64),
    ) -> Result<Moved, Reason> {
        let (root, this) = self.end(handle, cpu, end)?;
        // Before the bytes are counted: what was sent before it ended is received.
        let is_open = self.is_open((handle, end), this);
        let bytes = bytes.min(MESSAGE_MAX);
        let va = UserAddress::new(va).ok_or(Reason::BadEntry)?;
        let to = pieces(memory, root, (va, bytes), true).ok_or(Reason::BadEntry)?;
        let Guard { mut state, .. } = self.of_running(handle, cpu)?;
        let this = state.ends.get_mut(end as usize).ok_or(Reason::BadEntry)?;
        let mut moved = Moved { bytes: 0, is_open };
        for (mut at, mut left) in to {
            while left > 0 && this.waiting > 0 {
                let place = u64::from(this.first);
                let count = left.min(u64::from(this.waiting)).min(INBOX - place);
                memory.copy(this.inbox.byte(place), at.as_u64(), count);
                this.first = ((place + count) % INBOX) as u16;
                this.waiting -= count as u16;
                (at, left) = (at.within(count), left - count);
                moved.bytes += count;
            }
        }
        Ok(moved)
    }

    /// The measurement of the compartment at the other end; none if it is not there any more.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Self::send).
    pub fn peer(
        &self,
        (handle, cpu): (Handle, usize),
        number: u64,
    ) -> Result<Option<[u8; 32]>, Reason> {
        let (_, end) = self.end(handle, cpu, number)?;
        if !self.is_open((handle, number), end) {
            return Ok(None);
        }
        Ok(self.measurement(end.peer).ok())
    }

    /// An end of the compartment that runs on this CPU, and its root.
    fn end(&self, handle: Handle, cpu: usize, end: u64) -> Result<(FrameAddress, End), Reason> {
        let Guard { state, .. } = self.of_running(handle, cpu)?;
        let end = state.ends.get(end as usize);
        let end = end.filter(|it| it.inbox != FrameAddress::NONE);
        Ok((state.root, *end.ok_or(Reason::BadEntry)?))
    }

    fn is_open(&self, (handle, number): (Handle, u64), end: End) -> bool {
        let peer = self.of(end.peer);
        peer.is_ok_and(|mut it| it.state.other_end(handle, number, end).is_some())
    }
}

/// The frames in which bytes wait, which their compartment has no more.
pub(super) fn close(state: &mut State) -> impl Iterator<Item = FrameAddress> + use<> {
    let ends = core::mem::replace(&mut state.ends, [End::NONE; ENDS]);
    ends.into_iter()
        .map(|end| end.inbox)
        .filter(|inbox| *inbox != FrameAddress::NONE)
}
