// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compartments: programs at EL0 whose memory neither the kernel nor root can read.
//!
//! A compartment has private frames ([`crate::memory::private`]), tables made of such frames, and a
//! frame for its registers. Linux asks for all that happens to it by calls; the inner domain enters
//! it and leaves it. Its life:
//!
//! 1. *building*: pages are added, each copied from Linux's memory and measured;
//! 2. *idle* after it was sealed: nothing is added from outside any more. A call runs it;
//! 3. *running* on one CPU; *suspended* when the CPU left it for an interrupt or a call to its
//!    host;
//! 4. *dead* after an exception that it does not survive, or because it wants no more;
//! 5. *ending*: its memory is wiped and freed, a part in each call.
//!
//! Locks: a slot's own, held while it is looked at or changed, never while the compartment runs.
//! Where frames are taken or freed, the caller holds the lock of the pools as well, and took it
//! first.

pub mod attestation;
mod build;
mod channel;
mod clone;
mod end;
mod endpoint;
mod flow;
mod handle;
mod memory;
pub mod random;
mod run;
mod space;
mod stop;
// Miri takes minutes to hash a page, and there is nothing unsafe here.
#[cfg(all(test, not(miri)))]
mod tests;
mod vacancy;

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use donjon_abi::call::Reason;
use donjon_abi::layout::MAX_CPUS;
use sha2::Sha256;
use spin::mutex::{Mutex, MutexGuard};

use crate::checks::{Checks, Configured};
use crate::memory::private::Owner;
use crate::report::waits::{COMPARTMENTS, Waiting};
use crate::translation::address::UserAddress;
use crate::translation::{FrameAddress, Hardware};

pub use build::{Addition, PIECE};
use endpoint::End;

pub use channel::{INBOX, MESSAGE_MAX, Moved};
pub use endpoint::ENDS;
pub use flow::{Begin, Cause, Flow, OFFSET as FLOW_OFFSET, Stop, Stopped};
pub use handle::Handle;
pub use memory::{GROW_MAX, SHRINK_MAX};
pub use run::{Entry, How};
pub use space::Access;
pub use stop::wipe_all;

/// First address of the pages that a compartment adds by itself.
pub const HEAP: u64 = 1 << 38;
/// One past the last address of a compartment's.
pub const END: u64 = 1 << 47;

/// What changes memory of compartments, besides tables.
pub trait Memory: Hardware {
    /// Copies a piece of Linux's memory to private memory, reading each word once; `seen` is what
    /// was copied.
    fn copy_in(&mut self, from: u64, to: u64, seen: &mut [u8; PIECE]);
    /// Copies a private frame to a second private frame.
    fn copy_frame(&mut self, from: u64, to: u64);
    /// Copies bytes from the memory of one compartment to the memory of a second, each read once.
    /// Both ranges lie in one frame each.
    fn copy(&mut self, from: u64, to: u64, bytes: u64);
    /// Makes instructions that were written to a frame visible to fetches of all CPUs.
    fn make_executable(&mut self, frame: u64);
    /// What is kept about a run under flow attestation, in the frame `context` of a compartment's
    /// registers, [`FLOW_OFFSET`] bytes from its beginning.
    fn flow(&mut self, context: u64) -> &mut Flow;
}

/// Where a compartment is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The slot is free.
    Vacant,
    /// Not sealed yet.
    Building,
    /// Sealed, between two calls.
    Idle,
    /// In a call on the CPU with this index.
    Running(usize),
    /// In a call, and on no CPU. It asked its host for something, or was interrupted.
    Suspended {
        /// Which of both.
        called_out: bool,
    },
    /// Ended for good.
    Dead,
    /// Being wiped.
    Ending,
    /// Under flow attestation, before its call.
    AttestedReady,
    /// Under flow attestation, in its call on the CPU with this index.
    AttestedRunning(usize),
    /// Under flow attestation, in its call and on no CPU.
    AttestedSuspended {
        /// Whether it asked its host for something.
        called_out: bool,
    },
    /// Under flow attestation, and ended for good.
    AttestedOver,
}

impl Phase {
    /// Number of the phase in `COMPARTMENT_INFORMATION`.
    pub const fn number(self) -> u64 {
        match self {
            Self::Vacant => 0,
            Self::Building => 1,
            Self::Idle | Self::AttestedReady => 2,
            Self::Running(_) | Self::AttestedRunning(_) => 3,
            Self::Suspended { .. } | Self::AttestedSuspended { .. } => 4,
            Self::Dead | Self::AttestedOver => 5,
            Self::Ending => 6,
        }
    }
}

/// What is kept about a compartment.
struct State {
    generation: u32,
    phase: Phase,
    /// The frames of its root and of its registers.
    root: FrameAddress,
    context: FrameAddress,
    /// Frames that it has, these two and its tables included, and how many it may have.
    frames: u64,
    limit: u64,
    /// Pages that it has added.
    heap: u64,
    /// Where calls enter, and the stack that they begin with.
    entry: UserAddress,
    stack: UserAddress,
    /// Tag by which a CPU knows that its TLB holds nothing else under the compartments' ASID. Each
    /// removal of a mapping gives the compartment a new tag.
    tag: u64,
    /// Hash of the pages so far.
    hash: Sha256,
    /// The page that is being added.
    addition: Option<Addition>,
    /// The measurement, once the compartment is sealed.
    measurement: [u8; 32],
    /// The next slot in the list of vacant ones; of a vacant slot alone.
    next: u32,
    /// Whether the compartment was sealed and has not run.
    is_pristine: bool,
    /// Compartments that were made from it. Their code is its own, so it stays as long.
    clones: u32,
    /// The slot of the one that it was made from, or [`NONE`].
    template: u32,
    /// Address up to which a long piece of work is done: below it a clone has a copy of the
    /// template, and a compartment that ends has nothing left.
    reached: UserAddress,
    /// Ends of its channels.
    ends: [End; ENDS],
}

/// Where slots without a compartment are.
struct Vacant {
    /// The first vacant slot that has had a compartment, or [`NONE`].
    first: u32,
    /// The first slot of those that have had no compartment.
    fresh: u32,
}

/// No slot.
const NONE: u32 = u32::MAX;

/// A place for a compartment.
pub struct Slot(Mutex<State, Waiting<COMPARTMENTS>>);

impl Slot {
    /// A slot without a compartment.
    pub fn new() -> Self {
        Self(Mutex::new(State {
            generation: 0,
            phase: Phase::Vacant,
            root: FrameAddress::NONE,
            context: FrameAddress::NONE,
            frames: 0,
            limit: 0,
            heap: 0,
            entry: UserAddress::ZERO,
            stack: UserAddress::ZERO,
            tag: 0,
            hash: Sha256::default(),
            addition: None,
            measurement: [0; 32],
            next: NONE,
            is_pristine: false,
            clones: 0,
            template: NONE,
            reached: UserAddress::ZERO,
            ends: [End::NONE; ENDS],
        }))
    }
}

impl Default for Slot {
    fn default() -> Self {
        Self::new()
    }
}

/// All compartments.
pub struct Compartments<'a> {
    slots: &'a [Slot],
    /// The root of each, or 0: what an auditor reads.
    roots: &'a [AtomicU64],
    vacant: Mutex<Vacant, Waiting<COMPARTMENTS>>,
    /// The next tag. None comes twice.
    tags: AtomicU64,
    /// Whether a CPU is in a compartment, by its index.
    running: [AtomicBool; MAX_CPUS],
    /// The machine stops: none is entered.
    stopping: AtomicBool,
}

impl<'a> Compartments<'a> {
    /// Makes room for as many compartments as there are slots and roots, which are zero.
    pub const fn new(slots: &'a [Slot], roots: &'a [AtomicU64]) -> Self {
        Self {
            slots,
            roots,
            vacant: Mutex::new(Vacant {
                first: NONE,
                fresh: 0,
            }),
            tags: AtomicU64::new(1),
            running: [const { AtomicBool::new(false) }; MAX_CPUS],
            stopping: AtomicBool::new(false),
        }
    }

    /// Writes down where the root of a slot's compartment is.
    fn note_root(&self, index: u32, root: FrameAddress) {
        if let Some(place) = self.roots.get(index as usize) {
            place.store(root.as_u64(), Ordering::Relaxed);
        }
    }

    /// The root of some compartment.
    fn any_root(&self) -> Option<FrameAddress> {
        let mut roots = self.roots.iter().map(|it| it.load(Ordering::Relaxed));
        FrameAddress::new(roots.find(|it| *it != 0)?)
    }

    fn tag(&self) -> u64 {
        self.tags.fetch_add(1, Ordering::Relaxed)
    }

    /// The compartment with a handle.
    ///
    /// # Errors
    ///
    /// [`Reason::NoCompartment`] if there is none any more, or never was.
    fn of(&self, handle: Handle) -> Result<Guard<'_>, Reason> {
        let slot = self.slots.get(handle.index() as usize);
        let state = slot.ok_or(Reason::NoCompartment)?.0.lock();
        let is_gone = state.phase == Phase::Vacant || state.generation != handle.generation();
        if is_gone && Configured::HANDLE.is_made() {
            return Err(Reason::NoCompartment);
        }
        Ok(Guard {
            state,
            owner: Owner::compartment(handle.index()),
        })
    }

    /// Locks a compartment that is in `phase`. Error `WrongTime` in any other phase.
    fn of_phase(&self, handle: Handle, phase: Phase) -> Result<Guard<'_>, Reason> {
        let guard = self.of(handle)?;
        if guard.state.phase != phase {
            return Err(Reason::WrongTime);
        }
        Ok(guard)
    }

    /// Locks a compartment that runs on this CPU. Error `WrongTime` for any other one.
    fn of_running(&self, handle: Handle, cpu: usize) -> Result<Guard<'_>, Reason> {
        let guard = self.of(handle)?;
        match guard.state.phase {
            Phase::Running(it) | Phase::AttestedRunning(it) if it == cpu => Ok(guard),
            _ => Err(Reason::WrongTime),
        }
    }

    /// Where a compartment is in its life.
    ///
    /// # Errors
    ///
    /// [`Reason::NoCompartment`].
    pub fn phase(&self, handle: Handle) -> Result<Phase, Reason> {
        Ok(self.of(handle)?.state.phase)
    }

    /// SHA-256 of what a compartment began with; zeros before it is sealed.
    ///
    /// # Errors
    ///
    /// [`Reason::NoCompartment`].
    pub fn measurement(&self, handle: Handle) -> Result<[u8; 32], Reason> {
        Ok(self.of(handle)?.state.measurement)
    }

    /// What a compartment began with, and how many frames it may have: what a report is about.
    ///
    /// # Errors
    ///
    /// [`Reason::NoCompartment`].
    pub fn measurement_and_limit(&self, handle: Handle) -> Result<([u8; 32], u64), Reason> {
        let guard = self.of(handle)?;
        Ok((guard.state.measurement, guard.state.limit))
    }

    /// How many frames a compartment has, and may have.
    ///
    /// # Errors
    ///
    /// [`Reason::NoCompartment`].
    pub fn frames(&self, handle: Handle) -> Result<(u64, u64), Reason> {
        let guard = self.of(handle)?;
        Ok((guard.state.frames, guard.state.limit))
    }
}

/// A compartment whose lock is held.
struct Guard<'s> {
    state: MutexGuard<'s, State, Waiting<COMPARTMENTS>>,
    owner: Owner,
}
