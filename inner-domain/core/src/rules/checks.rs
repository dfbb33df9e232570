// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which checks are made: all of them, except in builds that show what one of them is good for.

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
    /// Shadows are filled from ordinary memory.
    const SOURCE: bool = true;
    /// What is checked of a descriptor is what a shadow gets.
    const ONCE: bool = true;
    /// Shadows of a frame are dropped before it stops being ordinary.
    const WITHDRAW: bool = true;
}

/// All checks, but for the one that a cargo feature of a test build leaves out.
#[derive(Clone, Copy, Debug)]
pub struct Configured;

impl Checks for Configured {
    const TARGET: bool = !cfg!(feature = "weaken-target");
    const TRANSITION: bool = !cfg!(feature = "weaken-transition");
    const CONTIGUOUS: bool = !cfg!(feature = "weaken-contiguous");
    const DIRTY_BIT_MODIFIER: bool = !cfg!(feature = "weaken-dbm");
    const PARENT: bool = !cfg!(feature = "weaken-parent");
    const ASID: bool = !cfg!(feature = "weaken-asid");
    const FLUSH: bool = !cfg!(feature = "weaken-flush");
    const EXECUTE: bool = !cfg!(feature = "weaken-execute");
    const POOL: bool = !cfg!(feature = "weaken-pool");
    const VECTORS: bool = !cfg!(feature = "weaken-vectors-page");
    const DEVICES: bool = !cfg!(feature = "weaken-devices");
    const SOURCE: bool = !cfg!(feature = "weaken-source");
    const ONCE: bool = !cfg!(feature = "weaken-once");
    const WITHDRAW: bool = !cfg!(feature = "weaken-withdraw");
}
