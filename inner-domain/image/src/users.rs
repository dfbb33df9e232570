// SPDX-License-Identifier: MIT OR Apache-2.0
//! The user tables, and what decides about them. Their locks are finer
//! than that of the [domain](crate::domain), which is taken first where both are held.

use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use donjon_abi::call::Reason;
use donjon_core::frames::FrameTable;
use donjon_core::shadow::Shadows;
use spin::Once;

use crate::outcome::Refusal;

/// User tables.
pub struct Users {
    /// The trees.
    pub shadows: Shadows<'static>,
    /// The type of each frame.
    pub frames: FrameTable<'static>,
}

static USERS: Once<Users> = Once::new();

/// Set by the hand-over, for good.
static LIVE: AtomicBool = AtomicBool::new(false);

/// What [`at_once`] gives. Null while nothing may be.
static AT_ONCE: AtomicPtr<Users> = AtomicPtr::new(ptr::null_mut());

/// Set by [`hold_up`], for good.
static HELD_UP: AtomicBool = AtomicBool::new(false);

/// Stores the user tables. Later calls change nothing.
pub fn set(shadows: Shadows<'static>, frames: FrameTable<'static>) {
    USERS.call_once(|| Users { shadows, frames });
}

/// Puts the user tables into use: every CPU that is compared has them from now on. The caller holds
/// the domain's lock.
pub fn begin() {
    LIVE.store(true, Ordering::Release);
    let users = USERS.get().map_or(ptr::null(), ptr::from_ref);
    AT_ONCE.store(users.cast_mut(), Ordering::SeqCst);
    if HELD_UP.load(Ordering::SeqCst) {
        hold_up();
    }
}

/// Disables the fast path, so that each call is measured, and sees a stop of the machine. Otherwise
/// one load tells the most frequent calls that neither is so, and that there are user tables.
pub fn hold_up() {
    HELD_UP.store(true, Ordering::SeqCst);
    AT_ONCE.store(ptr::null_mut(), Ordering::SeqCst);
}

/// The user tables, unless there are none or calls are [held up](hold_up).
#[inline(always)]
pub fn at_once() -> Option<&'static Users> {
    let users = AT_ONCE.load(Ordering::Acquire);
    // SAFETY: null, or the address of what is in `USERS` for good; it is never borrowed mutably.
    unsafe { users.as_ref() }
}

/// The user tables, from the hand-over on.
pub fn live() -> Option<&'static Users> {
    let live = LIVE.load(Ordering::Acquire);
    USERS.get().filter(|_| live)
}

/// The user tables. Error `WrongTime` before the hand-over.
pub fn get() -> Result<&'static Users, Refusal> {
    live().ok_or(Refusal::rule(Reason::WrongTime))
}
