// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code that fuzzers share, and what each of them looks for.
#![forbid(unsafe_code)]

pub mod flow;
pub mod signed;

use std::env;
use std::sync::LazyLock;

use donjon_models::cases::World;
use donjon_models::space::random::Random;

/// The check that is left out, if any.
static WITHOUT: LazyLock<Option<String>> = LazyLock::new(|| env::var("DONJON_FUZZ_WITHOUT").ok());

/// Makes the calls of a case.
///
/// # Panics
///
/// If something is wrong after one of them.
pub fn judge(world: World, case: &[u8]) {
    if let Err(wrong) = world.judge(case, WITHOUT.as_deref()) {
        panic!("{wrong}");
    }
}

/// Panics if `DONJON_FUZZ_WITHOUT` is "acceptance": a control, which shows that a fuzzer comes to
/// what is accepted.
fn accepted() {
    assert!(WITHOUT.as_deref() != Some("acceptance"), "accepted");
}

/// Makes another case of the first `size` bytes of `case`; returns how many it has.
///
/// libFuzzer likes to repeat bytes. Calls differ in more than coverage shows, so that every other
/// time some calls become random ones, in place of others or behind them.
pub fn mutate(case: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let mut random = Random::new(seed.into());
    if random.once_in(2) {
        return libfuzzer_sys::fuzzer_mutate(case, size, most);
    }
    let most = most.min(case.len());
    let first = random.below(size.min(most) as u64 + 1) as usize;
    let longest = random.one_of(&[4, 16, 64, 512]);
    let end = most.min(first + 1 + random.below(longest) as usize);
    for byte in &mut case[first..end] {
        *byte = random.any() as u8;
    }
    size.max(end)
}
