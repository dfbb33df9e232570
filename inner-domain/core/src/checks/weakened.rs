// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which checks this build leaves out.

#[cfg(feature = "checks-by-word")]
use core::sync::atomic::{AtomicU64, Ordering};

use super::{BY_WORD, IN_IMAGE, IN_IMAGE_AND_BOOT, NOT_IN_CODE};

/// A check that a build with the feature `checks-by-word` leaves out where its bit is chosen.
#[derive(Clone, Copy, Debug)]
pub struct Weakening {
    bit: u32,
}

/// What [`choose`] was given.
#[cfg(feature = "checks-by-word")]
static CHOSEN: AtomicU64 = AtomicU64::new(0);

/// Leaves out the checks whose bits are set in `mask`, as in [`left_out`]. The inner domain calls
/// it before anything else.
#[cfg(feature = "checks-by-word")]
pub fn choose(mask: u64) {
    CHOSEN.store(mask, Ordering::Relaxed);
}

impl Weakening {
    /// Names the check that `bit` of the word leaves out.
    pub(super) const fn new(bit: u32) -> Self {
        Self { bit }
    }

    /// Says whether the check is **not** made: false in every product build.
    #[must_use]
    #[inline(always)]
    pub(super) fn is_left_out(self) -> bool {
        chosen() >> self.bit & 1 != 0
    }
}

/// Returns the bits that were chosen.
#[inline(always)]
fn chosen() -> u64 {
    #[cfg(feature = "checks-by-word")]
    return CHOSEN.load(Ordering::Relaxed);
    #[cfg(not(feature = "checks-by-word"))]
    0
}

/// Returns a bit for each check that this build leaves out; 0 in every product build.
#[must_use]
#[inline(always)]
pub fn left_out() -> u64 {
    NOT_IN_CODE | chosen()
}

/// Returns the bit in [`left_out`] of a check, by the name of its control, such as `weaken-seal`.
#[must_use]
pub fn bit(name: &str) -> Option<u32> {
    let features = IN_IMAGE.iter().chain(IN_IMAGE_AND_BOOT);
    let mut all = features.chain(BY_WORD);
    all.find(|it| it.0 == name).map(|it| it.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::{Checks, Configured};

    #[test]
    fn each_check_has_its_bit() {
        let features = IN_IMAGE.iter().chain(IN_IMAGE_AND_BOOT);
        let all = features.chain(BY_WORD);
        let bits = all.clone().fold(0, |bits, (_, bit)| bits | 1_u64 << bit);
        assert_eq!(bits.count_ones() as usize, all.count());
        // Bit 18 says that the image writes its steps down.
        assert_eq!(bits & 1 << 18, 0);
    }

    #[test]
    fn a_product_build_makes_all_checks() {
        assert_eq!(left_out(), 0);
        assert!(Configured::SEAL.is_made());
        assert!(Configured::NARROW.is_made());
        assert_eq!(bit("weaken-seal"), Some(44));
        assert_eq!(bit("weaken-scrub"), Some(37));
        assert_eq!(bit("weaken-nothing"), None);
    }
}
