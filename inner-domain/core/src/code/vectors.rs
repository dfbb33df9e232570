// SPDX-License-Identifier: MIT OR Apache-2.0
//! Linux's vectors: where they may be, and whether they compare `TCR_EL1` before anything else.

use crate::checks::{Checks, Configured};
use donjon_abi::layout::PAGE_SIZE;
use donjon_abi::tcr::OUTER;

/// First address at which the vectors may be. Which root entries and which words of the table block
/// a forged walk reads for them depends on bits 47 to 34 of their address. The list of slots that
/// stay empty is for these, and so is the order of the pages.
pub const VECTORS_START: u64 = 0xffff_c000_0000_0000;
/// Bytes from there on.
pub const VECTORS_SIZE: u64 = 1 << 34;

/// Bytes of a slot.
const SLOT: u64 = 0x80;
/// Slots for exceptions from EL1: with SP_EL0, then with SP_EL1.
const SLOTS: u64 = 8;
const SCRATCH: u32 = 18;

/// The first slot for exceptions from EL1 that does not begin with the exact comparison, or from
/// which a mismatch does not lead to the same page, which never changes; none if all do. `word`
/// gives the instruction at an offset in the vectors at virtual address `vectors`.
pub fn slot_without_comparison(vectors: u64, word: impl Fn(u64) -> u32) -> Option<u64> {
    let compares = |slot: u64| {
        let at = |index: u64| word(slot * SLOT + index * 4);
        let begins = (0..).zip(COMPARISON).all(|(index, it)| at(index) == it);
        let branch = COMPARISON.len() as u64;
        let address = vectors + slot * SLOT + branch * 4;
        let target = unless_zero(at(branch)).map(|offset| address.wrapping_add_signed(offset));
        begins && target.is_some_and(|it| it / PAGE_SIZE == vectors / PAGE_SIZE)
    };
    (0..SLOTS).find(|slot| !compares(*slot) && Configured::VECTORS_COMPARE.is_made())
}

/// Leaves zero in x18 if `TCR_EL1` is the outer value, and for no other value: 24 bits are
/// subtracted, the rest is rotated down, and 24 bits more are subtracted.
const COMPARISON: [u32; 6] = [
    // MRS x18, TCR_EL1
    0xd538_2040 | SCRATCH,
    subtract(OUTER & 0xfff, 0),
    subtract(OUTER >> 12 & 0xfff, 1),
    // ROR x18, x18, #24
    0x93c0_0000 | SCRATCH << 16 | 24 << 10 | SCRATCH << 5 | SCRATCH,
    subtract(OUTER >> 24 & 0xfff, 0),
    subtract(OUTER >> 36 & 0xfff, 1),
];

const _: () = assert!(OUTER >> 48 == 0, "48 bits are compared by subtraction");

/// SUB x18, x18, #immediate, LSL #(12 * shifted)
const fn subtract(immediate: u64, shifted: u32) -> u32 {
    0xd100_0000 | shifted << 22 | (immediate as u32) << 10 | SCRATCH << 5 | SCRATCH
}

/// Where CBNZ x18 leads, in bytes from itself; none for another instruction.
const fn unless_zero(word: u32) -> Option<i64> {
    if word & 0xff00_001f != 0xb500_0000 | SCRATCH {
        return None;
    }
    // Bits 23 to 5, a signed number of words.
    let words = (word << 8).cast_signed() >> 13;
    Some(words as i64 * 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slots as Linux has them, and what follows.
    fn vectors() -> [u32; 512] {
        let mut words = [0xd503_201f; 512];
        for slot in words.chunks_mut(SLOT as usize / 4) {
            slot[..6].copy_from_slice(&COMPARISON);
            slot[6] = 0xb500_1012;
        }
        words
    }

    const VECTORS: u64 = 0xffff_c000_8001_1000;

    fn found(words: &[u32; 512]) -> Option<u64> {
        slot_without_comparison(VECTORS, |offset| words[offset as usize / 4])
    }

    #[test]
    fn each_word_of_each_slot_counts() {
        assert_eq!(found(&vectors()), None);
        for slot in 0..SLOTS as usize {
            for word in 0..7 {
                let mut words = vectors();
                words[slot * 32 + word] ^= 1;
                assert_eq!(found(&words), Some(slot as u64), "word {word}");
            }
        }
        // What EL0's slots do is Linux's business.
        let mut words = vectors();
        words[8 * 32] = 0;
        assert_eq!(found(&words), None);
    }

    #[test]
    fn a_mismatch_stays_in_the_page() {
        // The branch of slot 2 is at 0x118.
        for (offset, slot) in [
            (0xee4, None),
            (0xee8, Some(2)),
            (-0x118, None),
            (-0x11c, Some(2)),
        ] {
            let mut words = vectors();
            let field = ((offset / 4) as u32 & 0x7_ffff) << 5;
            words[2 * 32 + 6] = 0xb500_0012 | field;
            assert_eq!(unless_zero(words[2 * 32 + 6]), Some(offset));
            assert_eq!(found(&words), slot, "{offset:#x}");
        }
    }

    /// What the words compute, for some values.
    #[test]
    fn only_the_outer_value_gives_zero() {
        let computed = |tcr: u64| {
            COMPARISON[1..].iter().fold(tcr, |x, word| {
                let immediate = u64::from(word >> 10 & 0xfff);
                match word >> 24 {
                    0xd1 => x.wrapping_sub(immediate << (12 * (word >> 22 & 1))),
                    _ => x.rotate_right(24),
                }
            })
        };
        assert_eq!(computed(OUTER), 0);
        for bit in 0..64 {
            assert_ne!(computed(OUTER ^ 1 << bit), 0, "bit {bit}");
        }
    }
}
