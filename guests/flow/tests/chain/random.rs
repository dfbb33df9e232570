// SPDX-License-Identifier: MIT OR Apache-2.0
//! Properties whose cases follow from a fixed seed.

use proptest::test_runner::{Config, RngSeed};

/// Makes a property's cases follow from a seed.
pub fn fixed(seed: u64) -> Config {
    Config {
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..Config::default()
    }
}
