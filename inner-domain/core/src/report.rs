// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the inner domain tells about itself: its log, refused calls, waiting for locks.

pub mod log_ring;
pub mod refusals;
pub mod waits;
