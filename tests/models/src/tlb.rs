// SPDX-License-Identifier: MIT OR Apache-2.0
//! The gate on a TLB that is as hostile as the architecture allows.
//!
//! Three pages stand for everything: one that only the inner view maps, its lower-range
//! counterpart of a user, and the twin that a forged table could map. The TLB walks whatever
//! it may walk at every moment (Arm DDI 0487, R_SQBCS, I_RCGCH), keeps everything until it is
//! told otherwise, and uses every copy that matches. More entries only mean more hits, so the
//! model fills it to the brim after each step and needs no luck: what it does not find, no
//! choice of the hardware reaches *within the model*.
//!
//! What the model takes from the manual:
//!
//! * Between a write of TCR_EL1 and the next context synchronization event each field may be the
//!   old or the new one, independently and anew for each use (K1.2.4). That is the default;
//!   [`Assumptions::single_point_of_observation`] takes it away, as D8.2.3 does for the TTBRs and
//!   nothing does for TCR_EL1.
//! * T1SZ, A1 and EPD0 change by one bit each in the gate, so an amalgamation of old and new
//!   (K1.2.3) is one of the two.
//! * A hit needs no register but the ASID (R_XXNPZ); a leaf is global or belongs to one ASID
//!   (R_WTVTJ, R_QGKGF); an entry of an upper table always belongs to one ASID (R_CHVGJ).
//! * T1SZ may be cached in a TLB, A1 may not (TCR_EL1). How far a cached T1SZ reaches is
//!   [`SizeCaching`].
//! * A TLBI is complete after the DSB (D8.17); until then everything it names may
//!   still be used, and anything may be walked again.
//!
//! What it leaves out: several CPUs, stage 2, the Contiguous bit and other TLB conflicts,
//! changes of the tables, the copy of the kernel at V - 2^47, and what gate and vectors
//! themselves hit under a forged geometry, which [`crate::geometry`] covers.

mod explore;
mod gate;
mod inside;
mod model;

pub use explore::{Operation, Violation, explore, explore_with};
pub use gate::{Gate, Mismatch, Step};
pub use inside::{Move, Way};
pub use model::{Assumptions, Breach, Invalidation, Rules, SizeCaching, Tcr};
