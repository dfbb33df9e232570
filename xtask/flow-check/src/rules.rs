// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the checker proves over the graph of a text.

mod cycle;
mod link;
mod rounds;
mod sums;

pub use cycle::cycles;
pub use link::link;
pub use rounds::rounds;
pub use sums::sums;
