// SPDX-License-Identifier: MIT OR Apache-2.0
//! Physical memory: who has which part, and which part the outer domain may name.

pub mod block_set;
pub mod firmware_memory;
pub mod outer_range;
pub mod placement;
pub mod private;
