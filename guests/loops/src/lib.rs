// SPDX-License-Identifier: MIT OR Apache-2.0
//! Work that is measured inside and outside of a compartment: the same source for both. None of it
//! is inlined, so that neither side's compiler sees what the other one's does not.

#![no_std]

mod compute;
mod library;
mod memory;
mod message;
mod task;

pub use compute::{array, float, integer, math};
pub use library::{Errand, KEPT, Library, Link, complement, marker};
pub use memory::{PAGE, read, touch, write};
pub use message::{MESSAGE, Message};
pub use task::Task;
