// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a host of compartments is built on: a program in Linux that makes them, gives them time and
//! serves what they ask for (docs/compartments.md, "How to write a host").
//!
//! * [`Instance`] is a compartment made from an [`Image`], with the pages that it shares.
//! * [`Compartment`] is one alone: page by page, clones, channels, memory for it.
//! * [`FlowRun`] is a run whose path a verifier elsewhere can check ([`Instance::serve_attested`]).
//! * [`Shared`] is pages of this process that a compartment uses, too.
//! * [`Request`] is what programs ask for that are built on the runtimes of this repository.
//!
//! Each part needs `/dev/donjon/compartment`, which is root's. Where the device is not there, each
//! attempt to make a compartment fails, and nothing else is lost: a program may be built for any
//! Linux.
//!
//! Nothing here is trusted by a compartment, and no compartment has to be trusted: it has no
//! address of this process's but those of shared pages.

mod device;
mod error;
mod flow;
mod instance;
mod shared;

pub use device::{Access, Compartment, Exit, Information};
pub use donjon_compartment_image::{Image, PAGE, SHARED, SHARED_MAX, hexadecimal};
pub use donjon_compartment_protocol::{FAILED, PANIC, Request};
pub use error::Error;
pub use flow::{Attested, Evidence, FlowRun};
pub use instance::Instance;
pub use shared::Shared;
