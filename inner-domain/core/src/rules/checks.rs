// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checks of the rules, each of which a test build can leave out.

use crate::weaken;

/// The checks that can be left out, one at a time, to show that an attack succeeds without.
///
/// True means that the check is made. [`Configured`] is what the inner domain is built with; a
/// test names its own.
pub trait Checks {
    /// The type of a mapped frame decides how it may be mapped, in tables and in shadows.
    const TARGET: bool = true;
    /// A valid entry changes only its permissions.
    const TRANSITION: bool = true;
    /// No contiguous groups, in tables and in shadows.
    const CONTIGUOUS: bool = true;
    /// DBM counts as writable, and no shadow has it.
    const DIRTY_BIT_MODIFIER: bool = true;
    /// A kernel table has one parent.
    const PARENT: bool = true;
    /// No process has the reserved ASID, and no two processes share one.
    const ASID: bool = true;
    /// The TLB is invalidated before a block of memory changes its class.
    const FLUSH: bool = true;
    /// No table write and no shadow makes anything executable at EL1.
    const EXECUTE: bool = true;
    /// The linear map shows the pools read-only.
    const POOL: bool = true;
    /// The page of the vectors stays mapped as it is.
    const VECTORS: bool = true;
    /// What is no RAM is mapped if it is on the list of devices.
    const DEVICES: bool = true;
    /// Shadows are filled, and text is made, from ordinary memory.
    const SOURCE: bool = true;
    /// What is checked of a descriptor is what a shadow gets.
    const ONCE: bool = true;
    /// Shadows of a frame are dropped before it stops being ordinary.
    const WITHDRAW: bool = true;
    /// A refresh of a shadow changes nothing but that a page or block becomes read-only. There is
    /// no test build without: a process's rights are Linux's to give, and the models show what is
    /// lost.
    const REFRESH: bool = true;
}

/// All checks, but for the one that a cargo feature of a test build leaves out.
#[derive(Clone, Copy, Debug)]
pub struct Configured;

impl Checks for Configured {
    const TARGET: bool = !weaken::TARGET;
    const TRANSITION: bool = !weaken::TRANSITION;
    const CONTIGUOUS: bool = !weaken::CONTIGUOUS;
    const DIRTY_BIT_MODIFIER: bool = !weaken::DBM;
    const PARENT: bool = !weaken::PARENT;
    const ASID: bool = !weaken::ASID;
    const FLUSH: bool = !weaken::FLUSH;
    const EXECUTE: bool = !weaken::EXECUTE;
    const POOL: bool = !weaken::POOL;
    const VECTORS: bool = !weaken::VECTORS_PAGE;
    const DEVICES: bool = !weaken::DEVICES;
    const SOURCE: bool = !weaken::SOURCE;
    const ONCE: bool = !weaken::ONCE;
    const WITHDRAW: bool = !weaken::WITHDRAW;
}
