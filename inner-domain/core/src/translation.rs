// SPDX-License-Identifier: MIT OR Apache-2.0
//! The floor under both kinds of tables: addresses, descriptors, types of frames, checks of leaves,
//! and the steps that a change consists of.
//!
//! The kernel's tables ([`crate::kernel_tables`]) and those of users ([`crate::user_tables`]) are
//! built on it. Pools ([`crate::pools`]), whose blocks neither may map any more, stand above them.

pub mod address;
pub(crate) mod bits;
pub mod descriptor;
mod entry;
pub(crate) mod flush;
pub mod frames;
mod hardware;
pub mod inner_tables;
pub(crate) mod leaf;

pub(crate) use entry::{EntryAddress, FrameAddress, RawDescriptor};
pub use hardware::{Hardware, Step};
