// SPDX-License-Identifier: MIT OR Apache-2.0
//! APGAKey_EL1: the key with which PACGA computes a code of two registers.
//!
//! The keys that sign pointers count at EL0 if SCTLR_EL1 enables them. PACGA has no such bit (Arm
//! DDI 0487, "PACGA" and "SCTLR_EL1"), so a program computes with whatever is in this register.

/// Two words, as APGAKeyLo_EL1 and APGAKeyHi_EL1 have them.
pub type Key = [u64; 2];

/// Whether a CPU with these ID_AA64ISAR1_EL1 and ID_AA64ISAR2_EL1 has the instruction and its key:
/// GPA, GPI or GPA3 tells of an algorithm (FEAT_PACQARMA5, FEAT_PACIMP, FEAT_PACQARMA3). Elsewhere
/// both are UNDEFINED.
pub const fn exists(id_aa64isar1_el1: u64, id_aa64isar2_el1: u64) -> bool {
    id_aa64isar1_el1 >> 24 & 0xff != 0 || id_aa64isar2_el1 >> 8 & 0xf != 0
}

/// A key of random bytes. It is never zero, which stands for a compartment that has none yet.
pub fn from_random(bytes: &[u8; 32]) -> Key {
    let word = |at: usize| u64::from_le_bytes(core::array::from_fn(|it| bytes[at + it]));
    match [word(0), word(8)] {
        [0, 0] => [1, 0],
        key => key,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_algorithm_counts_and_no_other_field_does() {
        assert!(!exists(0, 0));
        for bit in 0..64 {
            assert_eq!(exists(1 << bit, 0), (24..32).contains(&bit), "{bit}");
            assert_eq!(exists(0, 1 << bit), (8..12).contains(&bit), "{bit}");
        }
    }

    #[test]
    fn a_key_is_of_the_first_bytes_and_never_zero() {
        let mut bytes = [0; 32];
        assert_eq!(from_random(&bytes), [1, 0]);
        bytes[0] = 5;
        bytes[15] = 6;
        bytes[16] = 7;
        assert_eq!(from_random(&bytes), [5, 6 << 56]);
    }
}
