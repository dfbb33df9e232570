// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's address space on a small machine, modelled without the rules.
//!
//! * [`memory`]: physical memory, the steps that change it, and the TLBs of all CPUs.
//! * [`caches`]: TLBs as hostile as the architecture allows. Whatever may be walked at a moment
//!   is walked at that moment and kept until an invalidation of it is complete; whatever is kept
//!   is used. So one state stands for every choice that hardware has.
//! * [`small`]: a machine of 16 MiB with one of everything, ready for its rules.
//! * [`invariants`]: all mappings and tables, found by walking from the roots, and the invariants
//!   that they must keep.
//! * [`expected`]: what the contract says of a call, decided from scratch.
//! * [`outer`]: an outer domain that makes every call there is, mostly plausible ones, by its
//!   [`random`], and the [`counters`] of what came of them.
//! * [`run`]: a sequence of its calls with all checks.
//!
//! Nothing here asks the rules what is right, and nothing keeps metadata as they do. The types of
//! frames are read from them, because the invariants speak of types.

pub mod caches;
pub mod counters;
pub mod expected;
pub mod invariants;
pub mod memory;
pub mod outer;
pub mod random;
pub mod run;
pub mod small;
