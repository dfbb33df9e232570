// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checks of this build: [`donjon_core::checks`], and the word that a test build asks.
//!
//! What a test build does in place of a check stands in files of the name `without.rs`, which are
//! empty in a product build, as [`without!`](donjon_core::without) is.

pub use donjon_core::checks::{Checks, Configured, left_out};

#[cfg(feature = "checks-by-word")]
mod weakened;

/// Asks the word of a test build which checks to leave out; does nothing in a product build. It
/// comes before anything else.
pub fn choose() {
    #[cfg(feature = "checks-by-word")]
    weakened::choose();
}
