// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chooses the inner domain's physical memory.
//!
//! The inner domain stands as high as possible: firmware, device tree, Linux and its initial RAM
//! disk stand low, and a hole at the top of a memory bank cuts the fewest blocks of Linux's linear
//! map.

use donjon_abi::layout::PHYSICAL_END;

use crate::range::Range;

/// The highest range of `size` bytes, aligned to `alignment` (a power of two), that lies in one
/// of the `ram` ranges below [`PHYSICAL_END`] and overlaps none of the `used` ones.
///
/// None when there is no such range, `size` is 0 or `alignment` is not a power of two.
pub fn place(ram: &[Range], used: &[Range], size: u64, alignment: u64) -> Option<Range> {
    if !alignment.is_power_of_two() {
        return None;
    }
    let highest = |bank: &Range| {
        let mut end = bank.end().min(PHYSICAL_END);
        loop {
            let start = end.checked_sub(size)? & !(alignment - 1);
            let candidate = Range::with_size(start, size)?;
            if start < bank.start() {
                return None;
            }
            // Everything between the lowest obstacle and `end` overlaps it as well, or is
            // smaller than `size`.
            match used
                .iter()
                .filter(|range| range.overlaps(candidate))
                .map(|range| range.start())
                .min()
            {
                Some(obstacle) => end = obstacle,
                None => return Some(candidate),
            }
        }
    };
    ram.iter()
        .filter_map(highest)
        .max_by_key(|range| range.start())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn range(start: u64, end: u64) -> Range {
        Range::new(start, end).expect("not empty")
    }

    #[test]
    fn the_top_of_the_highest_bank_is_taken() {
        let ram = [
            range(0x4000_0000, 0x8000_0000),
            range(0x1_0000_0000, 0x1_4000_0000),
        ];
        let used = [range(0x1_3fe0_0000, 0x1_3fe1_0000)];
        let found = place(&ram, &used, 0x40_0000, 0x20_0000);
        assert_eq!(found, Some(range(0x1_3fa0_0000, 0x1_3fe0_0000)));
    }

    #[test]
    fn memory_beyond_the_linear_map_slot_is_not_taken() {
        let ram = [range(PHYSICAL_END - 0x20_0000, PHYSICAL_END + 0x4000_0000)];
        let found = place(&ram, &[], 0x20_0000, 0x20_0000);
        assert_eq!(found.map(Range::end), Some(PHYSICAL_END));
        assert_eq!(place(&ram, &[], 0x20_0001, 1), None);
    }

    #[test]
    fn nonsense_finds_nothing() {
        let ram = [range(0, 0x10_0000)];
        assert_eq!(place(&ram, &[], 0, 0x1000), None);
        assert_eq!(place(&ram, &[], 0x1000, 0), None);
        assert_eq!(place(&ram, &[], 0x1000, 0x1800), None);
        assert_eq!(place(&[], &[], 0x1000, 0x1000), None);
        assert_eq!(place(&ram, &[], u64::MAX, 1), None);
    }

    fn ranges(most: usize) -> impl Strategy<Value = Vec<Range>> {
        let one = (0..64_u64, 1..16_u64).prop_map(|(start, size)| range(start, start + size));
        proptest::collection::vec(one, 0..most)
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: if cfg!(miri) { 16 } else { 1024 },
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn the_answer_is_what_a_search_of_every_address_finds(
            ram in ranges(4),
            used in ranges(6),
            size in 1..12_u64,
            shift in 0..4_u32,
        ) {
            let expected = (0..96_u64)
                .rev()
                .filter(|start| start % (1 << shift) == 0)
                .map(|start| range(start, start + size))
                .find(|it| {
                    ram.iter().any(|bank| bank.encloses(*it))
                        && !used.iter().any(|u| u.overlaps(*it))
                });
            prop_assert_eq!(place(&ram, &used, size, 1 << shift), expected);
        }
    }
}
