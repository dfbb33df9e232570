// SPDX-License-Identifier: MIT OR Apache-2.0
//! How often CPUs find a lock held: counted where they wait anyway, so a lock that is free costs
//! nothing more.

use core::hint::spin_loop;
use core::sync::atomic::{AtomicU64, Ordering};

use spin::RelaxStrategy;

/// The lock of the protected state.
pub const DOMAIN: usize = 0;
/// The locks of all trees of users.
pub const TREES: usize = 1;
/// The lock of the pages that trees are made of.
pub const ARENA: usize = 2;
/// The locks of compartments.
pub const COMPARTMENTS: usize = 3;

static CHECKS: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];

/// Waiting for a lock of the kind `LOCK`.
pub struct Waiting<const LOCK: usize>;

impl<const LOCK: usize> RelaxStrategy for Waiting<LOCK> {
    fn relax() {
        CHECKS[LOCK].fetch_add(1, Ordering::Relaxed);
        spin_loop();
    }
}

/// How often a lock of a kind was looked at and found held, by all CPUs, since the start. One look
/// takes about ten instructions.
pub fn checks(lock: usize) -> u64 {
    CHECKS.get(lock).map_or(0, |it| it.load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_counted_apart() {
        let before = [DOMAIN, TREES].map(checks);
        Waiting::<TREES>::relax();
        assert_eq!(checks(DOMAIN), before[0]);
        assert!(checks(TREES) > before[1]);
        assert_eq!(checks(CHECKS.len()), 0);
    }
}
