// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checks of the rules, each of which a test build can leave out.

use crate::weaken;
use crate::weaken::Weakening;

/// Whether a check is made.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    /// The check is made.
    Made,
    /// A test names a configuration without it.
    LeftOut,
    /// The check is made unless the build leaves out this protection.
    Unless(Weakening),
}

impl Check {
    /// Says whether the check is made.
    #[must_use]
    #[inline(always)]
    pub fn is_made(self) -> bool {
        match self {
            Self::Made => true,
            Self::LeftOut => false,
            Self::Unless(weakening) => !weakening.is_left_out(),
        }
    }
}

/// The checks that can be left out, one at a time, to show that an attack succeeds without.
///
/// [`Configured`] is what the inner domain is built with; a
/// test names its own.
pub trait Checks {
    /// The type of a mapped frame decides how it may be mapped, in tables and in shadows.
    const TARGET: Check = Check::Made;
    /// A valid entry changes only its permissions.
    const TRANSITION: Check = Check::Made;
    /// No contiguous groups, in tables and in shadows.
    const CONTIGUOUS: Check = Check::Made;
    /// DBM counts as writable, and no shadow has it.
    const DIRTY_BIT_MODIFIER: Check = Check::Made;
    /// A kernel table has one parent.
    const PARENT: Check = Check::Made;
    /// No process has the reserved ASID, and no two processes share one.
    const ASID: Check = Check::Made;
    /// The TLB is invalidated before a block of memory changes its class.
    const FLUSH: Check = Check::Made;
    /// No table write and no shadow makes anything executable at EL1.
    const EXECUTE: Check = Check::Made;
    /// The linear map shows the pools read-only.
    const POOL: Check = Check::Made;
    /// The page of the vectors stays mapped as it is.
    const VECTORS: Check = Check::Made;
    /// What is no RAM is mapped if it is on the list of devices.
    const DEVICES: Check = Check::Made;
    /// Shadows are filled, and text is made, from ordinary memory.
    const SOURCE: Check = Check::Made;
    /// What is checked of a descriptor is what a shadow gets.
    const ONCE: Check = Check::Made;
    /// Shadows of a frame are dropped before it stops being ordinary.
    const WITHDRAW: Check = Check::Made;
    /// Pools and private memory come from memory that no device reaches.
    const RESERVE: Check = Check::Made;
    /// A refresh of a shadow changes nothing but that a page or block becomes read-only. There is
    /// no test build without: a process's rights are Linux's to give, and the models show what is
    /// lost.
    const REFRESH: Check = Check::Made;
}

/// All checks, but for the one that a test build leaves out.
#[derive(Clone, Copy, Debug)]
pub struct Configured;

impl Checks for Configured {
    const TARGET: Check = Check::Unless(weaken::TARGET);
    const TRANSITION: Check = Check::Unless(weaken::TRANSITION);
    const CONTIGUOUS: Check = Check::Unless(weaken::CONTIGUOUS);
    const DIRTY_BIT_MODIFIER: Check = Check::Unless(weaken::DBM);
    const PARENT: Check = Check::Unless(weaken::PARENT);
    const ASID: Check = Check::Unless(weaken::ASID);
    const FLUSH: Check = Check::Unless(weaken::FLUSH);
    const EXECUTE: Check = Check::Unless(weaken::EXECUTE);
    const POOL: Check = Check::Unless(weaken::POOL);
    const VECTORS: Check = Check::Unless(weaken::VECTORS_PAGE);
    const DEVICES: Check = Check::Unless(weaken::DEVICES);
    const SOURCE: Check = Check::Unless(weaken::SOURCE);
    const ONCE: Check = Check::Unless(weaken::ONCE);
    const WITHDRAW: Check = Check::Unless(weaken::WITHDRAW);
    const RESERVE: Check = Check::Unless(weaken::RESERVE);
}
