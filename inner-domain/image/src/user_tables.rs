// SPDX-License-Identifier: MIT OR Apache-2.0
//! The user tables, and what decides about them. Their locks are finer
//! than that of the [domain](crate::domain), which is taken first where both are held.

use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use donjon_abi::call::Reason;
use donjon_core::translation::frames::FrameTable;
use donjon_core::user_tables::UserTables;
use spin::Once;

use crate::outcome::Refusal;

/// User tables, and the types of the frames that they may map.
pub struct Users {
    /// The trees of all processes.
    pub tables: UserTables<'static>,
    /// The type of each frame.
    pub frames: FrameTable<'static>,
}

static USERS: Once<Users> = Once::new();

/// Set by the hand-over, for good.
static LIVE: AtomicBool = AtomicBool::new(false);

/// What [`fast`] gives. Null before the hand-over, and once the fast path is disabled.
static FAST: AtomicPtr<Users> = AtomicPtr::new(ptr::null_mut());

/// Set by [`disable_fast_path`], for good.
static FAST_PATH_DISABLED: AtomicBool = AtomicBool::new(false);

/// Stores the user tables. Later calls change nothing.
pub fn set(tables: UserTables<'static>, frames: FrameTable<'static>) {
    USERS.call_once(|| Users { tables, frames });
}

/// Puts the user tables into use: every CPU that is compared has them from now on. The caller holds
/// the domain's lock.
pub fn begin() {
    LIVE.store(true, Ordering::Release);
    let users = USERS.get().map_or(ptr::null(), ptr::from_ref);
    FAST.store(users.cast_mut(), Ordering::SeqCst);
    if FAST_PATH_DISABLED.load(Ordering::SeqCst) {
        disable_fast_path();
    }
}

/// Disables the fast path, so that each call is measured, and sees a stop of the machine. Otherwise
/// one load tells the most frequent calls that neither is so, and that there are user tables.
pub fn disable_fast_path() {
    FAST_PATH_DISABLED.store(true, Ordering::SeqCst);
    FAST.store(ptr::null_mut(), Ordering::SeqCst);
}

/// The user tables for a call on the fast path; none before the hand-over, and once the fast path
/// is [disabled](disable_fast_path).
#[inline(always)]
pub fn fast() -> Option<&'static Users> {
    let users = FAST.load(Ordering::Acquire);
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
