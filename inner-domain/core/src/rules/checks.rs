// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which checks are made: all of them, except in builds that show what one of them is good for.

/// The checks that can be left out, one at a time, to show that an attack succeeds without.
///
/// True means that the check is made. [`Configured`] is what the inner domain is built with; a
/// test names its own.
pub trait Checks {
    /// The type of a mapped frame decides how it may be mapped.
    const TARGET: bool = true;
    /// A valid entry changes only its permissions.
    const TRANSITION: bool = true;
    /// No contiguous groups.
    const CONTIGUOUS: bool = true;
    /// DBM counts as writable.
    const DIRTY_BIT_MODIFIER: bool = true;
    /// A table has one parent.
    const PARENT: bool = true;
    /// The reserved ASID is nobody's, and no two roots share one.
    const ASID: bool = true;
    /// Only a user root is loaded.
    const ROOT: bool = true;
    /// The TLB is invalidated before a block of memory changes its class.
    const FLUSH: bool = true;
    /// No table write makes anything executable at EL1.
    const EXECUTE: bool = true;
    /// The linear map shows the pools read-only.
    const POOL: bool = true;
    /// The page of the vectors stays mapped as it is.
    const VECTORS: bool = true;
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
    const ROOT: bool = !cfg!(feature = "weaken-root");
    const FLUSH: bool = !cfg!(feature = "weaken-flush");
    const EXECUTE: bool = !cfg!(feature = "weaken-execute");
    const POOL: bool = !cfg!(feature = "weaken-pool");
    const VECTORS: bool = !cfg!(feature = "weaken-vectors-page");
}
