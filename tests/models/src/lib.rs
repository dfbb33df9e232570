// SPDX-License-Identifier: MIT OR Apache-2.0
//! Models that the rules of the inner domain are tested against.
//!
//! * [`cases`]: sequences of calls that bytes stand for, for a fuzzer and for what it found.
//! * [`flow`]: the chain of a flow log, and a record of it that is forged.
//! * [`geometry`]: where gate and vectors lead under every forged table geometry, over any
//!   reader of physical memory: a model or the memory of a running guest.
//! * [`linux`]: a small machine as Linux leaves it at the hand-over, and a naive look at it.
//! * [`machine`]: the tables of a whole machine as boot stage and Linux build them.
//! * [`user_tables`]: user tables of the inner domain's own, and TLBs that hold whatever they may.
//! * [`space`]: an address space with its TLBs, and an outer domain that tries everything on it.
//! * [`tlb`]: a TLB as hostile as the architecture allows, and the gate's steps on it.
//! * [`trace`]: judges the steps that a running inner domain wrote down.
#![forbid(unsafe_code)]

pub mod cases;
pub mod flow;
pub mod geometry;
pub mod linux;
pub mod machine;
pub mod space;
pub mod tlb;
pub mod trace;
pub mod user_tables;
